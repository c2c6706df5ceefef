package bundle

import (
	"context"
	"strings"
	"sync"
	"time"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/tenancy"
	"open-cluster-management.io/fleet-addon/pkg/hub/variables"
)

// A failed reconcile is tried again after retryFirst, doubling to retryMost: nothing
// tells when a permission or a namespace that was missing is there.
const (
	retryFirst = 50 * time.Millisecond
	retryMost  = 30 * time.Second
)

// batchDelay gathers the status of many works into one plan.
const batchDelay = 50 * time.Millisecond

// SetupWithManager starts the controller: its root kind is Bundle. nudges adds the
// bundles that others want to have looked at.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, workers int, nudges *Nudges) error {
	people := predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{})
	config := &unstructured.Unstructured{}
	config.SetGroupVersionKind(variables.Kind)
	return ctrl.NewControllerManagedBy(mgr).
		Named("bundle").
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryFirst, retryMost),
		}).
		For(&fleet.Bundle{}, builder.WithPredicates(people)).
		Watches(&v1alpha1.Rollout{}, &handler.EnqueueRequestForObject{}).
		Watches(&appsv1.ControllerRevision{}, batched{}).
		Watches(&workv1.ManifestWork{}, batched{}).
		Watches(&v1alpha1.RolloutPolicy{}, r.mapped(ofNamespace), builder.WithPredicates(people)).
		Watches(&fleet.ClusterGroup{}, r.lending(ofNamespace), builder.WithPredicates(people)).
		Watches(&fleet.BundleNamespaceMapping{}, r.mapped(ofNamespace)).
		Watches(&clusterv1beta2.ManagedClusterSetBinding{}, r.lending(ofNamespace)).
		WatchesMetadata(&corev1.Namespace{}, r.mapped(r.ofLabels), builder.WithPredicates(predicate.LabelChangedPredicate{})).
		Watches(&clusterv1beta2.ManagedClusterSet{}, r.lending(r.ofSet), builder.WithPredicates(people)).
		Watches(&addonv1beta1.ClusterManagementAddOn{}, r.mapped(everywhere), builder.WithPredicates(fleetAddOn, people)).
		Watches(config, handler.EnqueueRequestsFromMapFunc(r.ofConfig)).
		Watches(&clusterv1.ManagedCluster{}, r.clusterEvents()).
		Watches(&addonv1beta1.ManagedClusterAddOn{}, r.addOnEvents(), builder.WithPredicates(fleetAddOn)).
		WatchesRawSource(nudges.source()).
		Complete(r)
}

// batched enqueues the bundle of a work or of a revision, of the bundles that are gone
// too: that is how the works of one are found that was deleted while no manager was
// running.
type batched struct{}

func (batched) enqueue(o client.Object, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	if key, ok := bundleOf(o); ok {
		q.AddAfter(reconcile.Request{NamespacedName: key}, batchDelay)
	}
}

// Create, Update, Delete and Generic implement handler.EventHandler.
func (b batched) Create(_ context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	b.enqueue(e.Object, q)
}

func (b batched) Update(_ context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	b.enqueue(e.ObjectNew, q)
}

func (b batched) Delete(_ context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	b.enqueue(e.Object, q)
}

func (b batched) Generic(_ context.Context, e event.GenericEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	b.enqueue(e.Object, q)
}

func bundleOf(w client.Object) (types.NamespacedName, bool) {
	namespace, name, ok := strings.Cut(w.GetAnnotations()[v1alpha1.AnnotationBundle], "/")
	return types.NamespacedName{Namespace: namespace, Name: name}, ok && namespace != "" && name != ""
}

var fleetAddOn = predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetName() == v1alpha1.AddOnName })

// namespaces finds those that an event is for.
type namespaces func(context.Context, client.Object) ([]string, error)

// mapped enqueues every bundle of the namespaces that of returns.
func (r *Reconciler) mapped(of namespaces) handler.EventHandler {
	return r.enqueued(of, r.bundlesIn)
}

// lending enqueues the bundles, too, that can name ClusterGroups of the namespaces.
func (r *Reconciler) lending(of namespaces) handler.EventHandler {
	return r.enqueued(of, func(ctx context.Context, namespaces []string) []reconcile.Request {
		return append(r.bundlesIn(ctx, namespaces), r.borrowing(ctx, namespaces)...)
	})
}

func (r *Reconciler) enqueued(of namespaces, bundles func(context.Context, []string) []reconcile.Request) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		namespaces, err := of(ctx, o)
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Cannot tell which bundles an event is for", "object", client.ObjectKeyFromObject(o))
			return nil
		}
		return bundles(ctx, namespaces)
	})
}

func ofNamespace(_ context.Context, o client.Object) ([]string, error) {
	return []string{o.GetNamespace()}, nil
}

// ofLabels are a namespace itself and those whose mappings may select it, or did.
func (r *Reconciler) ofLabels(ctx context.Context, o client.Object) ([]string, error) {
	borrowers, err := tenancy.Borrowers(ctx, r.Reader)
	return append(borrowers, o.GetName()), err
}

func everywhere(context.Context, client.Object) ([]string, error) { return []string{""}, nil }

func (r *Reconciler) ofSet(ctx context.Context, o client.Object) ([]string, error) {
	return tenancy.NamespacesOfSet(ctx, r.Reader, o.GetName())
}

// bundlesOn returns the bundles that have a work on a cluster.
func (r *Reconciler) bundlesOn(ctx context.Context, name string) []reconcile.Request {
	var list workv1.ManifestWorkList
	if err := r.Reader.List(ctx, &list, client.InNamespace(name)); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Cannot list the works of a cluster", "cluster", name)
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		if key, ok := bundleOf(&list.Items[i]); ok {
			out = append(out, reconcile.Request{NamespacedName: key})
		}
	}
	return out
}

// Nudges lets others enqueue bundles, before and after the controller has started.
type Nudges struct {
	mu      sync.Mutex
	queue   workqueue.TypedRateLimitingInterface[reconcile.Request]
	waiting []reconcile.Request
}

// Add enqueues a bundle; it never blocks.
func (n *Nudges) Add(bundle types.NamespacedName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	req := reconcile.Request{NamespacedName: bundle}
	if n.queue == nil {
		n.waiting = append(n.waiting, req)
		return
	}
	n.queue.Add(req)
}

func (n *Nudges) source() source.Source {
	return source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.queue = q
		for _, req := range n.waiting {
			q.Add(req)
		}
		n.waiting = nil
		return nil
	})
}
