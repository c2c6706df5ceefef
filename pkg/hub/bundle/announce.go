package bundle

import (
	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// announce tells what has just been written to a Rollout's status: as Events about
// the Rollout and, of breaches, as a count.
func (r *Reconciler) announce(f *facts, before, after *v1alpha1.RolloutStatus) {
	for _, n := range newsOf(before, after) {
		r.Events.Eventf(f.rollout, f.bundle, n.kind, n.reason, n.action, "%s", n.note)
		if n.reason == newsBreached {
			r.Metrics.breached(f.key(), n.groups)
		}
	}
}
