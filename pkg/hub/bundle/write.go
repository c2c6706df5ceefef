package bundle

import (
	"context"
	"fmt"
	"time"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/lenient"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// writeRollout writes the status of the Rollout if it changed and a second has
// passed since the last write. It returns when a write is due that was not made,
// and whether the API has the record that the plan rests on.
func (r *Reconciler) writeRollout(ctx context.Context, f *facts, q *question, m *memory, plan *rollout.Result) (time.Duration, bool, error) {
	old := f.rollout
	status := rolloutStatus(old.Status, old.Generation, f, q, plan)
	if equality.Semantic.DeepEqual(status, old.Status) {
		return 0, true, nil
	}
	if settling(f, plan) {
		return 0, sameRecord(&status, &old.Status), nil
	}
	if due := statusInterval - f.now.Sub(m.rolloutWrittenAt); due > 0 {
		return due, sameRecord(&status, &old.Status), nil
	}
	f.rollout = old.DeepCopy()
	f.rollout.Status = status
	if err := r.Writer.Status().Patch(ctx, f.rollout,
		client.MergeFromWithOptions(old, client.MergeFromWithOptimisticLock{})); err != nil {
		return 0, false, fmt.Errorf("patch status of Rollout %s: %w", f.key(), err)
	}
	m.rolloutWrittenAt = f.now
	r.announce(f, &old.Status, &status)
	if f.rollout.ResourceVersion != old.ResourceVersion {
		m.rollout.add("", old.ResourceVersion, f.now)
	}
	return 0, true, nil
}

// settling tells whether a plan says nothing but that the manager has just started
// and has to look for a while. What stands in the status is better than that, if
// it is about what the bundle says now: a restart must not make a bundle unready. That
// a Placement is missing or contradicts itself is over, and nobody should look for it.
func settling(f *facts, plan *rollout.Result) bool {
	if was := rollout.Reason(f.rollout.Status.Reason); was == rollout.PlacementNotFound || was == rollout.PlacementInconsistent {
		return false
	}
	return plan.Hold != nil && plan.Hold.Reason == rollout.PlacementSettling &&
		f.rollout.Status.Revision == plan.Record.Revision && f.bundle.Status.ObservedGeneration == f.bundle.Generation
}

// sameRecord tells whether two statuses remember the same.
func sameRecord(a, b *v1alpha1.RolloutStatus) bool {
	return a.Revision == b.Revision && a.RevisionSince.Equal(b.RevisionSince) &&
		equality.Semantic.DeepEqual(a.Record, b.Record)
}

// writeBundle writes the status of the Bundle if it changed and a second has
// passed since the last write. It returns when a write is due that was not made.
func (r *Reconciler) writeBundle(ctx context.Context, f *facts, q *question, m *memory, plan *rollout.Result) (time.Duration, error) {
	seen := m.bundle.seen(func(string) string { return f.bundle.ResourceVersion }, f.now)
	status := bundleStatus(f, q, plan)
	if equality.Semantic.DeepEqual(status, f.bundle.Status) || settling(f, plan) {
		return 0, nil
	}
	if due := statusInterval - f.now.Sub(m.bundleWrittenAt); due > 0 {
		return due, nil
	}
	if !seen {
		return cacheDelay, nil
	}
	// Without the spec, which can be a megabyte and is not compared.
	version, err := lenient.PatchStatus(ctx, r.Writer, fleet.SchemeGroupVersion.WithKind("Bundle"), f.key(),
		&fleet.Bundle{Status: f.bundle.Status}, &fleet.Bundle{Status: status})
	if err != nil {
		return 0, fmt.Errorf("patch status of Bundle %s: %w", f.key(), err)
	}
	m.bundleWrittenAt = f.now
	if version != f.bundle.ResourceVersion {
		m.bundle.add("", f.bundle.ResourceVersion, f.now)
	}
	return 0, nil
}
