package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

const (
	// maxBundles are listed in a status; the count beside the list is of all.
	maxBundles = 100
	// maxConflicts are told in one message.
	maxConflicts = 5
)

// Reasons of the condition Exclusive.
const (
	reasonExclusive = "Exclusive"
	reasonConflict  = string(rollout.PolicyConflict)
)

// reign is which bundles a policy governs, and about which it is in conflict.
type reign struct {
	bundles []string
	// conflicts say which policies select a bundle.
	conflicts []string
}

// reign finds out what a policy governs.
func (r *Reconciler) reign(ctx context.Context, p *v1alpha1.RolloutPolicy) (reign, error) {
	var policies v1alpha1.RolloutPolicyList
	if err := r.Reader.List(ctx, &policies, client.InNamespace(p.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return reign{}, fmt.Errorf("list RolloutPolicies of namespace %s: %w", p.Namespace, err)
	}
	// Not copied, as a bundle can be a megabyte: they are read, never changed.
	var bundles fleet.BundleList
	if err := r.Reader.List(ctx, &bundles, client.InNamespace(p.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return reign{}, fmt.Errorf("list Bundles of namespace %s: %w", p.Namespace, err)
	}
	all := make([]*v1alpha1.RolloutPolicy, len(policies.Items))
	for i := range policies.Items {
		all[i] = &policies.Items[i]
	}
	return reignOf(p.Name, all, bundles.Items), nil
}

func reignOf(policy string, all []*v1alpha1.RolloutPolicy, bundles []fleet.Bundle) reign {
	var out reign
	for i := range bundles {
		switch under := rollout.Governing(bundles[i].Labels, all); {
		case !slices.Contains(under, policy):
		case len(under) == 1:
			out.bundles = append(out.bundles, bundles[i].Name)
		default:
			out.conflicts = append(out.conflicts, fmt.Sprintf("Bundle %s is selected by the RolloutPolicies %s", bundles[i].Name, strings.Join(under, " and ")))
		}
	}
	slices.Sort(out.bundles)
	slices.Sort(out.conflicts)
	return out
}

// tell writes a reign into a status.
func (g reign) tell(s *v1alpha1.RolloutPolicyStatus) {
	s.Bundles = g.bundles[:min(len(g.bundles), maxBundles)]
	s.BundleCount = int32(len(g.bundles))
}

// exclusive is the condition for the bundles that nobody else may select.
func (g reign) exclusive() metav1.Condition {
	c := metav1.Condition{
		Type: v1alpha1.RolloutPolicyExclusive, Status: metav1.ConditionTrue, Reason: reasonExclusive,
		Message: "no bundle is selected by this and another policy",
	}
	if len(g.conflicts) == 0 {
		return c
	}
	c.Status, c.Reason = metav1.ConditionFalse, reasonConflict
	c.Message = strings.Join(g.conflicts[:min(len(g.conflicts), maxConflicts)], "; ")
	if more := len(g.conflicts) - maxConflicts; more > 0 {
		c.Message += fmt.Sprintf("; and %d more", more)
	}
	c.Message = cut(c.Message + ": held until one policy selects it, or its label " + v1alpha1.LabelRolloutPolicy + " names one")
	return c
}
