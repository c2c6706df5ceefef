package drain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/cluster"
	"open-cluster-management.io/fleet-addon/pkg/hub/outcome"
)

// poll is how often a deleted add-on is looked at while it waits. Events come
// first; this is for what no event tells.
const poll = 5 * time.Second

// Reconciler is the controller of ManagedClusterAddOns.
type Reconciler struct {
	// Reader reads from the cache, Live past it.
	Reader, Live client.Reader
	Writer       client.Client
	Events       events.EventRecorder
	Clock        clock.PassiveClock
	// Timeout is how long a deleted add-on is kept.
	Timeout time.Duration
}

// SetupWithManager starts the controller: its root kind is ManagedClusterAddOn.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	ours := predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetName() == v1alpha1.AddOnName })
	return ctrl.NewControllerManagedBy(mgr).
		Named("drain").
		For(&addonv1beta1.ManagedClusterAddOn{}, builder.WithPredicates(ours)).
		Watches(&workv1.ManifestWork{}, handler.EnqueueRequestsFromMapFunc(addOnOf)).
		Complete(r)
}

func addOnOf(_ context.Context, w client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: w.GetNamespace(), Name: v1alpha1.AddOnName}}}
}

// Reconcile looks after the add-on of one cluster.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	recheck, err := r.reconcile(ctx, req.NamespacedName)
	return outcome.Result(ctx, recheck, err)
}

func (r *Reconciler) reconcile(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	a := &addonv1beta1.ManagedClusterAddOn{}
	if err := r.Reader.Get(ctx, key, a); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	if a.DeletionTimestamp.IsZero() {
		if err := r.guard(ctx, a); err != nil {
			return 0, err
		}
		return 0, r.wake(ctx, a)
	}
	if !slices.Contains(a.Finalizers, v1alpha1.FinalizerBundles) {
		return 0, nil
	}
	return r.drain(ctx, a)
}

// guard adds the finalizer.
func (r *Reconciler) guard(ctx context.Context, a *addonv1beta1.ManagedClusterAddOn) error {
	if slices.Contains(a.Finalizers, v1alpha1.FinalizerBundles) {
		return nil
	}
	return r.setFinalizers(ctx, a, append(slices.Clone(a.Finalizers), v1alpha1.FinalizerBundles))
}

func (r *Reconciler) setFinalizers(ctx context.Context, a *addonv1beta1.ManagedClusterAddOn, finalizers []string) error {
	before := a.DeepCopy()
	after := a.DeepCopy()
	after.Finalizers = finalizers
	err := r.Writer.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("patch finalizers of ManagedClusterAddOn %s: %w", client.ObjectKeyFromObject(a), err)
	}
	return nil
}

// wake changes a label on the works that were written before the add-on was ready
// and are not applied: a change of a label makes the work agent try again at once,
// where it would wait for up to 1,000 s.
func (r *Reconciler) wake(ctx context.Context, a *addonv1beta1.ManagedClusterAddOn) error {
	token := cluster.ReadyToken(a)
	if token == "" {
		return nil
	}
	works, err := r.works(ctx, r.Reader, a.Namespace)
	if err != nil {
		return err
	}
	var errs []error
	for i := range works {
		w := &works[i]
		if !w.DeletionTimestamp.IsZero() || w.Labels[v1alpha1.LabelAddOnReady] == token ||
			meta.IsStatusConditionTrue(w.Status.Conditions, workv1.WorkApplied) {
			continue
		}
		errs = append(errs, r.label(ctx, w, token))
	}
	return errors.Join(errs...)
}

func (r *Reconciler) label(ctx context.Context, w *workv1.ManifestWork, token string) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": w.ResourceVersion,
		"labels":          map[string]string{v1alpha1.LabelAddOnReady: token},
	}})
	if err != nil {
		return outcome.Terminal(err)
	}
	target := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name}}
	err = r.Writer.Patch(ctx, target, client.RawPatch(types.MergePatchType, body))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("label ManifestWork %s/%s: %w", w.Namespace, w.Name, err)
	}
	return nil
}

// drain takes one step for a deleted add-on, from live reads only: what is decided
// here cannot be taken back.
func (r *Reconciler) drain(ctx context.Context, a *addonv1beta1.ManagedClusterAddOn) (time.Duration, error) {
	works, err := r.works(ctx, r.Live, a.Namespace)
	if err != nil {
		return 0, err
	}
	l := leaving{addOn: a, works: len(works)}
	c := &clusterv1.ManagedCluster{}
	switch err := r.Live.Get(ctx, client.ObjectKey{Name: a.Namespace}, c); {
	case err == nil:
		l.cluster = c
	case !apierrors.IsNotFound(err):
		return 0, fmt.Errorf("get ManagedCluster %s live: %w", a.Namespace, err)
	}
	next, why := decide(l, r.Timeout, r.Clock.Now())
	ctrl.LoggerFrom(ctx).Info("Draining cluster", "action", next, "why", why, "works", len(works))
	switch next {
	case abandon:
		if err := r.deleteWorks(ctx, works); err != nil {
			return 0, err
		}
		return 0, r.release(ctx, a, why)
	case empty:
		return poll, r.deleteWorks(ctx, works)
	case await:
		return poll, nil
	case release:
		return 0, r.release(ctx, a, why)
	default:
		return 0, outcome.Terminal(fmt.Errorf("unknown action %q", next))
	}
}

// works of bundles in a cluster's namespace.
func (r *Reconciler) works(ctx context.Context, reader client.Reader, name string) ([]workv1.ManifestWork, error) {
	var list workv1.ManifestWorkList
	if err := reader.List(ctx, &list, client.InNamespace(name), client.HasLabels{v1alpha1.LabelBundle}); err != nil {
		return nil, fmt.Errorf("list ManifestWorks of cluster %s: %w", name, err)
	}
	return list.Items, nil
}

func (r *Reconciler) deleteWorks(ctx context.Context, works []workv1.ManifestWork) error {
	var errs []error
	for i := range works {
		if !works[i].DeletionTimestamp.IsZero() {
			continue
		}
		err := r.Writer.Delete(ctx, &works[i], client.Preconditions{UID: &works[i].UID})
		if client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("delete ManifestWork %s/%s: %w", works[i].Namespace, works[i].Name, err))
		}
	}
	return errors.Join(errs...)
}

func (r *Reconciler) release(ctx context.Context, a *addonv1beta1.ManagedClusterAddOn, why string) error {
	finalizers := slices.DeleteFunc(slices.Clone(a.Finalizers), func(f string) bool { return f == v1alpha1.FinalizerBundles })
	if err := r.setFinalizers(ctx, a, finalizers); err != nil {
		return err
	}
	r.Events.Eventf(a, nil, corev1.EventTypeNormal, "Released", "Drain", "the add-on can go: %s", why)
	return nil
}
