package drain

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/cluster"
)

// agentGrace is how long after the deletion an agent may be silent on a cluster that
// can be reached. One that has just been installed waits for the leader lease of the
// one before it (15 s, longer where that was killed), may have to pull its image, and
// is Available only when OCM next looks at its lease, which is once a minute.
const agentGrace = 90 * time.Second

// action is what a deleted add-on needs next.
type action string

const (
	// release drops the finalizer and leaves the cluster's works as they are.
	release action = "release"
	// abandon deletes the works and drops the finalizer without waiting.
	abandon action = "abandon"
	// empty deletes the works and waits until they are gone.
	empty action = "empty"
	// await waits for the agent to say that the cluster is drained.
	await action = "await"
)

// leaving is what is known of a deleted add-on.
type leaving struct {
	addOn *addonv1beta1.ManagedClusterAddOn
	// cluster is nil when the ManagedCluster is gone.
	cluster *clusterv1.ManagedCluster
	// works of bundles that are still in the API.
	works int
}

// decide chooses the next action and says why. Every way ends in release or
// abandon, at the latest when the timeout is over.
func decide(l leaving, timeout time.Duration, now time.Time) (action, string) {
	if l.addOn.Annotations[v1alpha1.AnnotationKeepBundles] == "true" {
		return release, "its annotation keeps the cluster's bundles"
	}
	if available, _ := cluster.Available(l.cluster); !available {
		if !cluster.Exists(l.cluster) {
			return abandon, "the ManagedCluster is going or gone and cannot be reached"
		}
		return release, "the cluster cannot be reached: its bundles stay"
	}
	over := !now.Before(deadline(l.addOn, timeout))
	switch {
	case over:
		return abandon, "the time to drain the cluster is over"
	case l.works > 0:
		return empty, "works of bundles are left"
	case drained(l.addOn):
		return release, "the cluster is drained"
	case !answering(l.addOn) && !now.Before(l.addOn.DeletionTimestamp.Add(agentGrace)):
		return release, "the agent does not answer"
	default:
		return await, "the agent has not finished"
	}
}

func deadline(a *addonv1beta1.ManagedClusterAddOn, timeout time.Duration) time.Time {
	return a.DeletionTimestamp.Add(timeout)
}

// answering tells whether an agent is there: by its lease, or because it has said
// since the deletion what is left, which it says long before its lease is looked at.
func answering(a *addonv1beta1.ManagedClusterAddOn) bool {
	return cluster.AgentAvailable(a) || meta.FindStatusCondition(a.Status.Conditions, v1alpha1.AddOnDrained) != nil
}

func drained(a *addonv1beta1.ManagedClusterAddOn) bool {
	c := meta.FindStatusCondition(a.Status.Conditions, v1alpha1.AddOnDrained)
	return c != nil && c.Status == metav1.ConditionTrue
}
