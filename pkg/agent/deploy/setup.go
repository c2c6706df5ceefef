package deploy

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"open-cluster-management.io/fleet-addon/pkg/agent/release"
	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

const (
	indexValues = "spec.valuesSecret"
	// sweepInterval is how often orphaned releases are looked for beside events.
	sweepInterval = 10 * time.Minute

	firstRetry = time.Second
	lastRetry  = 5 * time.Minute
)

// NewLimiter returns the back-off of errors that are retried.
func NewLimiter() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry)
}

// SetupWithManager adds the reconciler, its cache of releases and the sweep for
// orphans to a manager whose own cache holds the agent's namespace.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr manager.Manager, workers int) error {
	var err error
	if r.index, err = newIndex(ctx, mgr.GetConfig(), r.Namespace); err != nil {
		return err
	}
	if err := mgr.Add(r.index.cache); err != nil {
		return fmt.Errorf("add the cache of releases: %w", err)
	}
	if err := mgr.Add(manager.RunnableFunc(r.sweep)); err != nil {
		return fmt.Errorf("add the sweep: %w", err)
	}
	err = mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.BundleDeployment{}, indexValues, func(o client.Object) []string {
		bd, ok := o.(*v1alpha1.BundleDeployment)
		if !ok || bd.Spec.ValuesSecret == "" {
			return nil
		}
		return []string{bd.Spec.ValuesSecret}
	})
	if err != nil {
		return fmt.Errorf("index BundleDeployments: %w", err)
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("bundledeployment").
		For(&v1alpha1.BundleDeployment{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		// Every change, of a status too, is news for the report once the cache has it.
		Watches(&v1alpha1.BundleDeployment{}, r.news()).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.usersOfValues)).
		WatchesRawSource(source.Kind(r.index.cache, helmSecret(), handler.TypedEnqueueRequestsFromMapFunc(r.ownerOfRelease))).
		WatchesRawSource(source.Func(r.queue.start)).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, RateLimiter: r.Limiter}).
		Complete(r)
}

// Wake looks at one BundleDeployment again.
func (r *Reconciler) Wake(name string) { r.queue.add(r.Namespace, name) }

// WakeAll looks at every BundleDeployment, and at every release without one.
func (r *Reconciler) WakeAll(ctx context.Context) {
	log := logr.FromContextOrDiscard(ctx)
	bundles, err := r.Bundles(ctx)
	if err != nil {
		log.Error(err, "bundles cannot be woken")
	}
	for _, b := range bundles {
		r.Wake(b.Name)
	}
	owners, err := r.index.owners(ctx)
	if err != nil {
		log.Error(err, "orphans cannot be woken")
	}
	for _, o := range owners {
		r.Wake(o)
	}
}

// Bundles returns the BundleDeployments of the cluster, from the cache.
func (r *Reconciler) Bundles(ctx context.Context) ([]v1alpha1.BundleDeployment, error) {
	var list v1alpha1.BundleDeploymentList
	if err := r.Client.List(ctx, &list, client.InNamespace(r.Namespace)); err != nil {
		return nil, fmt.Errorf("list BundleDeployments: %w", err)
	}
	return list.Items, nil
}

// Left counts the BundleDeployments and releases that are left, read live. A
// release that is worked on counts too: Helm renders a chart and creates its CRDs
// before it writes the first record of a release.
func (r *Reconciler) Left(ctx context.Context) (bundles, releases int, err error) {
	working := int(r.working.Load())
	var list v1alpha1.BundleDeploymentList
	if err := r.Live.List(ctx, &list, client.InNamespace(r.Namespace)); err != nil {
		return 0, 0, fmt.Errorf("list BundleDeployments: %w", err)
	}
	releases, err = countReleases(ctx, r.Live, release.Selector(r.Namespace))
	return len(list.Items), max(releases, working), err
}

// sweep wakes the owners of releases that have no BundleDeployment. Events do the
// same; this is for the one that was missed.
func (r *Reconciler) sweep(ctx context.Context) error {
	wait.JitterUntilWithContext(ctx, func(ctx context.Context) {
		owners, err := r.index.owners(ctx)
		if err != nil {
			logr.FromContextOrDiscard(ctx).Error(err, "orphans cannot be looked for")
			return
		}
		for _, o := range owners {
			err := r.Client.Get(ctx, types.NamespacedName{Namespace: r.Namespace, Name: o}, &v1alpha1.BundleDeployment{})
			if client.IgnoreNotFound(err) == nil && err != nil {
				r.Wake(o)
			}
		}
	}, sweepInterval, 0.1, true)
	return nil
}

// news tells the hub's side that the bundles have changed; it queues nothing.
func (r *Reconciler) news() handler.Funcs {
	type work = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{
		CreateFunc: func(context.Context, event.CreateEvent, work) { r.Hub.Wake() },
		UpdateFunc: func(context.Context, event.UpdateEvent, work) { r.Hub.Wake() },
		DeleteFunc: func(context.Context, event.DeleteEvent, work) { r.Hub.Wake() },
	}
}

func (r *Reconciler) usersOfValues(ctx context.Context, secret client.Object) []reconcile.Request {
	var list v1alpha1.BundleDeploymentList
	err := r.Client.List(ctx, &list, client.InNamespace(r.Namespace), client.MatchingFields{indexValues: secret.GetName()})
	if err != nil {
		logr.FromContextOrDiscard(ctx).Error(err, "users of a Secret cannot be listed", "secret", secret.GetName())
	}
	out := make([]reconcile.Request, 0, len(list.Items))
	for _, b := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: b.Namespace, Name: b.Name}})
	}
	return out
}

func (r *Reconciler) ownerOfRelease(_ context.Context, secret *metav1.PartialObjectMetadata) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: r.Namespace, Name: secret.Labels[release.LabelOwner]}}}
}
