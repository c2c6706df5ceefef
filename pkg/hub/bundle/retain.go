package bundle

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/revision"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// retain deletes the oldest revisions over the limit. Their values go with them, their
// files once nothing else needs them.
func (r *Reconciler) retain(ctx context.Context, f *facts, q *question, m *memory, plan *rollout.Result) error {
	var errs []error
	for _, cr := range surplus(f.revisions, r.RevisionLimit, inUse(f, q, plan)) {
		ctrl.LoggerFrom(ctx).Info("Deleting a revision over the limit", "revision", revision.Hash(cr), "number", cr.Revision)
		if err := r.deleteRevision(ctx, cr); err != nil {
			errs = append(errs, err)
			continue
		}
		m.revisions.add(cr.Name, cr.ResourceVersion, f.now)
	}
	return errors.Join(errs...)
}

// inUse are the revisions that are kept whatever their number: the bundle's own, the
// one that is rolled out, the pinned, the last completed, and what clusters run.
func inUse(f *facts, q *question, plan *rollout.Result) map[string]bool {
	used := map[string]bool{
		q.own.revision: true, q.input.Revision: true,
		q.input.Record.CompletedRevision: true, plan.Record.CompletedRevision: true,
	}
	if n := len(f.revisions); n > 0 && q.own.unknown() {
		// Until its values are there, the newest one can be the bundle's own.
		used[revision.Hash(f.revisions[n-1])] = true
	}
	if f.rollout != nil {
		used[f.rollout.Spec.Revision] = true
	}
	for _, w := range f.works {
		used[w.Annotations[v1alpha1.AnnotationRevision]] = true
	}
	return used
}

// surplus are the revisions to be deleted, of all in the order of their numbers.
func surplus(all []*appsv1.ControllerRevision, limit int, used map[string]bool) []*appsv1.ControllerRevision {
	var out []*appsv1.ControllerRevision
	for _, cr := range all {
		if len(all)-len(out) <= limit {
			break
		}
		if !used[revision.Hash(cr)] {
			out = append(out, cr)
		}
	}
	return out
}

// deleteRevision deletes the ControllerRevision that was read, and no later state of it.
func (r *Reconciler) deleteRevision(ctx context.Context, cr *appsv1.ControllerRevision) error {
	err := r.Writer.Delete(ctx, &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: cr.Namespace, Name: cr.Name}},
		client.Preconditions{UID: &cr.UID, ResourceVersion: &cr.ResourceVersion})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete ControllerRevision %s/%s: %w", cr.Namespace, cr.Name, err)
	}
	return nil
}
