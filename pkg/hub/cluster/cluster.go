// Package cluster reads what the hub knows of one managed cluster: its
// ManagedCluster and its ManagedClusterAddOn. It decides nothing.
package cluster

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// DefaultAgentNamespace is where the agent is installed unless its add-on says otherwise.
const DefaultAgentNamespace = "open-cluster-management-agent-addon"

// Exists is false for a ManagedCluster that is gone (nil) or being deleted.
func Exists(c *clusterv1.ManagedCluster) bool {
	return c != nil && c.DeletionTimestamp.IsZero()
}

// Available is true while the condition Available is True. since is its
// transition time as text, which is only good for comparing.
func Available(c *clusterv1.ManagedCluster) (available bool, since string) {
	if c == nil {
		return false, ""
	}
	cond := meta.FindStatusCondition(c.Status.Conditions, clusterv1.ManagedClusterConditionAvailable)
	if cond == nil {
		return false, ""
	}
	return cond.Status == metav1.ConditionTrue, cond.LastTransitionTime.UTC().Format("2006-01-02T15:04:05Z")
}

// Unreachable is true while the cluster has one of the taints that OCM sets when
// it does not hear from it.
func Unreachable(c *clusterv1.ManagedCluster) bool {
	return c != nil && slices.ContainsFunc(c.Spec.Taints, func(t clusterv1.Taint) bool {
		return t.Key == clusterv1.ManagedClusterTaintUnreachable || t.Key == clusterv1.ManagedClusterTaintUnavailable
	})
}

// Change is what of a cluster differs between two readings, as far as a plan can depend
// on it. Heartbeats and capacities do not count.
type Change struct {
	// Presence: the cluster is another one, or is being deleted.
	Presence bool
	// Health: whether it is available and reachable, and since when.
	Health bool
	// Labels, Annotations and Claims.
	Labels, Annotations, Claims bool
}

// Compare tells what differs between two readings of a cluster.
func Compare(a, b *clusterv1.ManagedCluster) Change {
	aAvailable, aSince := Available(a)
	bAvailable, bSince := Available(b)
	return Change{
		Presence: a.UID != b.UID || !a.DeletionTimestamp.Equal(b.DeletionTimestamp),
		Health: aAvailable != bAvailable || aSince != bSince ||
			!equality.Semantic.DeepEqual(a.Spec.Taints, b.Spec.Taints),
		Labels:      !maps.Equal(a.Labels, b.Labels),
		Annotations: !maps.Equal(a.Annotations, b.Annotations),
		Claims:      !slices.Equal(a.Status.ClusterClaims, b.Status.ClusterClaims),
	}
}

// Claims are the ClusterClaims that a cluster reports, by name.
func Claims(c *clusterv1.ManagedCluster) map[string]string {
	out := make(map[string]string, len(c.Status.ClusterClaims))
	for _, claim := range c.Status.ClusterClaims {
		out[claim.Name] = claim.Value
	}
	return out
}

// SameScheduling tells whether two readings agree on what decides where the
// cluster belongs: its labels, its taints and whether it is being deleted.
func SameScheduling(a, b *clusterv1.ManagedCluster) bool {
	return a.UID == b.UID && Exists(a) == Exists(b) &&
		equality.Semantic.DeepEqual(a.Labels, b.Labels) &&
		equality.Semantic.DeepEqual(a.Spec.Taints, b.Spec.Taints)
}

// AddOnState of a ManagedClusterAddOn, nil for one that does not exist.
func AddOnState(a *addonv1beta1.ManagedClusterAddOn) rollout.AddOnState {
	switch {
	case a == nil:
		return rollout.AddOnMissing
	case !a.DeletionTimestamp.IsZero():
		return rollout.AddOnDeleting
	default:
		return rollout.AddOnPresent
	}
}

// AgentNamespace is where the cluster's agent runs.
func AgentNamespace(a *addonv1beta1.ManagedClusterAddOn) string {
	if a == nil || a.Status.Namespace == "" {
		return DefaultAgentNamespace
	}
	return a.Status.Namespace
}

// manifestApplied is the add-on framework's condition on the agent's own work,
// which brings the CRD that our works need.
const manifestApplied = "ManifestApplied"

// ReadyToken changes when the add-on becomes available or its manifests become
// applied; it is "" before. It is a label's value.
func ReadyToken(a *addonv1beta1.ManagedClusterAddOn) string {
	if a == nil {
		return ""
	}
	var available, applied int64
	if c := meta.FindStatusCondition(a.Status.Conditions, addonv1beta1.ManagedClusterAddOnConditionAvailable); c != nil &&
		c.Status == metav1.ConditionTrue {
		available = c.LastTransitionTime.Unix()
	}
	if c := meta.FindStatusCondition(a.Status.Conditions, manifestApplied); c != nil && c.Status == metav1.ConditionTrue {
		applied = c.LastTransitionTime.Unix()
	}
	if available == 0 && applied == 0 {
		return ""
	}
	return fmt.Sprintf("%d-%d", applied, available)
}

// AgentAvailable tells whether the agent's lease is fresh.
func AgentAvailable(a *addonv1beta1.ManagedClusterAddOn) bool {
	return a != nil && meta.IsStatusConditionTrue(a.Status.Conditions, addonv1beta1.ManagedClusterAddOnConditionAvailable)
}
