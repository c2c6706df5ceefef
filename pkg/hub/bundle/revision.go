package bundle

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/outcome"
	"open-cluster-management.io/fleet-addon/pkg/revision"
)

// goneDelay is how soon to look again for what is being deleted and what somebody's
// finalizer can keep for ever.
const goneDelay = 10 * time.Second

// readRevisions reads the kept revisions of the bundle, the oldest number first. Those
// of an earlier bundle of the same name go with that.
func (r *Reconciler) readRevisions(ctx context.Context, f *facts) error {
	var list appsv1.ControllerRevisionList
	if err := r.Reader.List(ctx, &list, client.InNamespace(f.bundle.Namespace), client.MatchingFields{IndexBundle: f.key().String()}); err != nil {
		return fmt.Errorf("list ControllerRevisions of Bundle %s: %w", f.key(), err)
	}
	for i := range list.Items {
		cr := &list.Items[i]
		if cr.DeletionTimestamp.IsZero() && revision.Is(cr, f.key()) && ownedBy(cr, f.bundle.UID) {
			f.revisions = append(f.revisions, cr)
		}
	}
	slices.SortFunc(f.revisions, func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Name, b.Name))
	})
	return nil
}

func ownedBy(o client.Object, uid types.UID) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == uid })
}

// kept returns the ControllerRevision of a revision; nil if it is not kept.
func (f *facts) kept(hash string) *appsv1.ControllerRevision {
	for _, cr := range f.revisions {
		if revision.Hash(cr) == hash {
			return cr
		}
	}
	return nil
}

// newest is the highest number that was given, 0 for none.
func (f *facts) newest() int64 {
	if len(f.revisions) == 0 {
		return 0
	}
	return f.revisions[len(f.revisions)-1].Revision
}

// contents are the names of all Contents that the bundle and its revisions need.
func (q *question) contents(f *facts) []string {
	var out []string
	for _, e := range []*edition{q.own, q.desired.edition, q.completed.edition} {
		if e != nil && e.packed.err == nil {
			out = append(out, e.packed.name)
		}
	}
	for _, cr := range f.revisions {
		if kept, err := revision.Read(cr); err == nil {
			out = append(out, kept.Content)
		}
	}
	return out
}

// keep writes down what the bundle says now, if it can be deployed: its files, its
// ControllerRevision and its values. One that comes back gets the newest number.
func (r *Reconciler) keep(ctx context.Context, f *facts, q *question, m *memory) error {
	if !q.keepable {
		return nil
	}
	own := q.own
	if err := r.Contents.Ensure(ctx, own.packed.name, own.packed.gz, own.packed.sum); err != nil {
		return err
	}
	cr := f.kept(own.revision)
	if cr != nil && cr.Revision == f.newest() && m.valuesOf == cr.UID {
		return nil
	}
	rev, err := revision.Of(own.bundle, ownerOf(f), own.packed.name)
	if err != nil {
		return outcome.Terminal(err)
	}
	switch {
	case cr == nil:
		rev.Number = f.newest() + 1
		cr, err = r.createRevision(ctx, f, m, rev)
	case cr.Revision != f.newest():
		err = r.renumber(ctx, f, m, cr, rev)
	}
	if err != nil {
		return err
	}
	if rev.HasValues() {
		if err := r.keepValues(ctx, rev.Secret(cr), cr.UID); err != nil {
			return err
		}
	}
	m.valuesOf = cr.UID
	return nil
}

func (r *Reconciler) createRevision(ctx context.Context, f *facts, m *memory, rev *revision.Revision) (*appsv1.ControllerRevision, error) {
	cr, err := rev.Build()
	if err != nil {
		return nil, outcome.Terminal(err)
	}
	ctrl.LoggerFrom(ctx).Info("Keeping revision", "revision", rev.Hash, "number", rev.Number)
	err = r.Writer.Create(ctx, cr)
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil, r.revisionInTheWay(ctx, cr, f.bundle.UID)
	case err != nil:
		return nil, fmt.Errorf("create ControllerRevision %s/%s: %w", cr.Namespace, cr.Name, err)
	}
	m.revisions.add(cr.Name, "", f.now)
	f.revisions = append(f.revisions, cr)
	return cr, nil
}

// revisionInTheWay tells a ControllerRevision that the cache does not show yet from one
// of an earlier bundle, which goes, and from one of somebody else.
func (r *Reconciler) revisionInTheWay(ctx context.Context, want *appsv1.ControllerRevision, owner types.UID) error {
	live := &appsv1.ControllerRevision{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(want), live); err != nil {
		return fmt.Errorf("get ControllerRevision %s/%s live: %w", want.Namespace, want.Name, err)
	}
	if !revision.Is(live, types.NamespacedName{Namespace: want.Namespace, Name: ownerName(want)}) {
		return fmt.Errorf("ControllerRevision %s/%s is in the way: its label %s or an annotation is not what this bundle writes; delete it",
			want.Namespace, want.Name, v1alpha1.LabelBundle)
	}
	if !live.DeletionTimestamp.IsZero() {
		return outcome.Wait(goneDelay, "ControllerRevision %s/%s is being deleted: its finalizers %q have to go", want.Namespace, want.Name, live.Finalizers)
	}
	if ownedBy(live, owner) {
		return outcome.Wait(cacheDelay, "the cache does not show ControllerRevision %s/%s", want.Namespace, want.Name)
	}
	if err := r.deleteRevision(ctx, live); err != nil {
		return err
	}
	return outcome.Wait(cacheDelay, "ControllerRevision %s/%s of an earlier bundle goes", want.Namespace, want.Name)
}

func ownerName(cr *appsv1.ControllerRevision) string { return cr.OwnerReferences[0].Name }

// renumber makes a revision that came back the newest.
func (r *Reconciler) renumber(ctx context.Context, f *facts, m *memory, cr *appsv1.ControllerRevision, rev *revision.Revision) error {
	before := cr.DeepCopy()
	cr.Revision = f.newest() + 1
	delete(cr.Annotations, v1alpha1.AnnotationCommit)
	if rev.Commit != "" {
		cr.Annotations[v1alpha1.AnnotationCommit] = rev.Commit
	}
	ctrl.LoggerFrom(ctx).Info("Revision is the newest again", "revision", rev.Hash, "number", cr.Revision)
	if err := r.Writer.Patch(ctx, cr, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("patch ControllerRevision %s/%s: %w", cr.Namespace, cr.Name, err)
	}
	m.revisions.add(cr.Name, before.ResourceVersion, f.now)
	return nil
}

// keepValues creates the Secret of a revision if it is not there as it should be.
func (r *Reconciler) keepValues(ctx context.Context, want *corev1.Secret, owner types.UID) error {
	live := &corev1.Secret{}
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(want), live)
	switch {
	case apierrors.IsNotFound(err):
		if err := r.Writer.Create(ctx, want); err != nil {
			return fmt.Errorf("create Secret %s/%s: %w", want.Namespace, want.Name, err)
		}
		return nil
	case err != nil:
		return fmt.Errorf("get Secret %s/%s live: %w", want.Namespace, want.Name, err)
	case live.Annotations[v1alpha1.AnnotationBundle] != want.Annotations[v1alpha1.AnnotationBundle]:
		return fmt.Errorf("delete Secret %s/%s, which is in the way: its annotation %s is not what this bundle writes",
			want.Namespace, want.Name, v1alpha1.AnnotationBundle)
	case !live.DeletionTimestamp.IsZero():
		return outcome.Wait(goneDelay, "Secret %s/%s is being deleted: its finalizers %q have to go", live.Namespace, live.Name, live.Finalizers)
	case ownedBy(live, owner) && bytes.Equal(live.Data[revision.SecretKey], want.Data[revision.SecretKey]):
		return nil
	}
	// That of a ControllerRevision that is gone, which goes too, or one that somebody
	// has put in its place. It cannot be changed.
	err = r.Writer.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: live.Namespace, Name: live.Name}},
		client.Preconditions{UID: &live.UID, ResourceVersion: &live.ResourceVersion})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Secret %s/%s: %w", live.Namespace, live.Name, err)
	}
	return outcome.Wait(cacheDelay, "Secret %s/%s goes and is written anew", live.Namespace, live.Name)
}
