package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/lenient"
	"open-cluster-management.io/fleet-addon/pkg/hub/outcome"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// Reasons of the condition Accepted.
const (
	reasonAccepted = "Accepted"
	reasonInvalid  = string(rollout.StrategyInvalid)
	reasonMissing  = string(rollout.PlacementNotFound)
	reasonNoGroup  = string(rollout.MandatoryGroupMissing)
)

// maxMessage is the API's limit of a condition's message, with room to spare.
const maxMessage = 4096

// indexPlacement finds RolloutPolicies by the Placements that they name.
const indexPlacement = "policy.placement"

// AddIndexes adds the indexes of this package.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &v1alpha1.RolloutPolicy{}, indexPlacement, func(o client.Object) []string {
		var names []string
		for _, ref := range o.(*v1alpha1.RolloutPolicy).Spec.PlacementRefs {
			names = append(names, ref.Name)
		}
		return names
	}); err != nil {
		return fmt.Errorf("index RolloutPolicies: %w", err)
	}
	return nil
}

// Reconciler is the controller of RolloutPolicies.
type Reconciler struct {
	Reader client.Reader
	Writer client.Client
	Clock  clock.PassiveClock
}

// SetupWithManager starts the controller: its root kind is RolloutPolicy.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("policy").
		For(&v1alpha1.RolloutPolicy{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		// What one policy selects is in conflict with the others.
		Watches(&v1alpha1.RolloutPolicy{}, handler.EnqueueRequestsFromMapFunc(r.ofNamespace), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&fleet.Bundle{}, handler.EnqueueRequestsFromMapFunc(r.ofNamespace), builder.WithPredicates(predicate.LabelChangedPredicate{})).
		Watches(&clusterv1beta1.Placement{}, handler.EnqueueRequestsFromMapFunc(r.ofPlacement), builder.WithPredicates(regrouped)).
		Complete(r)
}

// Reconcile judges one policy.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return outcome.Result(ctx, 0, r.judge(ctx, req))
}

func (r *Reconciler) judge(ctx context.Context, req ctrl.Request) error {
	p := &v1alpha1.RolloutPolicy{}
	if err := r.Reader.Get(ctx, req.NamespacedName, p); err != nil {
		return client.IgnoreNotFound(err)
	}
	around, err := r.around(ctx, p)
	if err != nil {
		return err
	}
	reign, err := r.reign(ctx, p)
	if err != nil {
		return err
	}
	before := p.DeepCopy()
	condition := accepted(rollout.ValidatePolicy(p), around)
	if why := lenient.Unreadable(p); why != "" {
		condition = metav1.Condition{Type: v1alpha1.RolloutPolicyAccepted, Status: metav1.ConditionFalse, Reason: reasonInvalid, Message: why}
	}
	for _, c := range []metav1.Condition{condition, reign.exclusive()} {
		c.ObservedGeneration = p.Generation
		c.LastTransitionTime = metav1.Time{Time: r.Clock.Now().UTC().Truncate(time.Second)}
		meta.SetStatusCondition(&p.Status.Conditions, c)
	}
	p.Status.ObservedGeneration = p.Generation
	reign.tell(&p.Status)
	if equality.Semantic.DeepEqual(before.Status, p.Status) {
		return nil
	}
	_, err = lenient.PatchStatus(ctx, r.Writer, v1alpha1.GroupVersion.WithKind("RolloutPolicy"), req.NamespacedName, before, p)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("patch status of RolloutPolicy %s: %w", req.NamespacedName, err)
	}
	return nil
}

// accepted is the condition for what was found. What is wrong in the policy itself
// comes before what is missing around it.
func accepted(errs field.ErrorList, around surroundings) metav1.Condition {
	c := metav1.Condition{Type: v1alpha1.RolloutPolicyAccepted, Status: metav1.ConditionFalse}
	texts := make([]string, 0, len(errs))
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	slices.Sort(texts)
	switch {
	case len(errs) > 0:
		c.Reason = reasonInvalid
	case len(around.placements) > 0:
		c.Reason = reasonMissing
	case len(around.groups) > 0:
		c.Reason = reasonNoGroup
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, reasonAccepted, "every lane can be used"
		return c
	}
	c.Message = cut(strings.Join(slices.Concat(texts, around.placements, around.groups), "; "))
	return c
}

func cut(message string) string {
	if len(message) > maxMessage {
		return strings.ToValidUTF8(message[:maxMessage], "")
	}
	return message
}

// ofNamespace enqueues the policies of an object's namespace.
func (r *Reconciler) ofNamespace(ctx context.Context, o client.Object) []reconcile.Request {
	return r.requests(ctx, o, client.InNamespace(o.GetNamespace()))
}

// ofPlacement enqueues the policies that name a Placement.
func (r *Reconciler) ofPlacement(ctx context.Context, o client.Object) []reconcile.Request {
	return r.requests(ctx, o, client.InNamespace(o.GetNamespace()), client.MatchingFields{indexPlacement: o.GetName()})
}

func (r *Reconciler) requests(ctx context.Context, o client.Object, which ...client.ListOption) []reconcile.Request {
	var list v1alpha1.RolloutPolicyList
	if err := r.Reader.List(ctx, &list, which...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Cannot list the policies that an event is for", "object", client.ObjectKeyFromObject(o))
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}
