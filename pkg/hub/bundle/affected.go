package bundle

import (
	"context"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/workqueue"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/cluster"
	"open-cluster-management.io/fleet-addon/pkg/hub/tenancy"
	"open-cluster-management.io/fleet-addon/pkg/hub/variables"
	"open-cluster-management.io/fleet-addon/pkg/target"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// clusterEvents enqueue the bundles that a change of a ManagedCluster can affect. A hub
// with 3,000 clusters sees a heartbeat every few milliseconds.
func (r *Reconciler) clusterEvents() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { enqueue(q, r.ofCluster(ctx, e.Object)) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			r.Values.Forget(e.Object.GetName())
			enqueue(q, r.ofCluster(ctx, e.Object))
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			enqueue(q, r.ofChange(ctx, e.ObjectOld.(*clusterv1.ManagedCluster), e.ObjectNew.(*clusterv1.ManagedCluster)))
		},
	}
}

func enqueue(q queue, requests []reconcile.Request) {
	for _, req := range requests {
		q.Add(req)
	}
}

// ofCluster are the bundles that can reach a cluster and those that have a work there.
func (r *Reconciler) ofCluster(ctx context.Context, o client.Object) []reconcile.Request {
	namespaces := r.namespacesOf(ctx, o)
	return append(append(r.bundlesIn(ctx, namespaces), r.borrowing(ctx, namespaces)...), r.bundlesOn(ctx, o.GetName())...)
}

// ofChange are the bundles that a change of a cluster can affect.
func (r *Reconciler) ofChange(ctx context.Context, old, new *clusterv1.ManagedCluster) []reconcile.Request {
	change := cluster.Compare(old, new)
	if change == (cluster.Change{}) {
		return nil
	}
	if change.Presence {
		return append(r.ofCluster(ctx, old), r.ofCluster(ctx, new)...)
	}
	namespaces := r.namespacesOf(ctx, new)
	var out []reconcile.Request
	if change.Labels {
		// Where the cluster comes into reach, or gets out of it, everything can change.
		moved := difference(namespaces, r.namespacesOf(ctx, old))
		out = append(r.bundlesIn(ctx, moved), r.borrowing(ctx, moved)...)
	}
	if change.Health {
		out = append(out, r.bundlesOn(ctx, new.Name)...)
	}
	before, after := seen(old, change), seen(new, change)
	for _, req := range r.bundlesIn(ctx, namespaces) {
		is := r.interests.get(req.NamespacedName)
		if change.Health && is.selects(new.Name) || is.affected(&before, &after) ||
			change.Annotations && is.usesValues() && annotated(old) != annotated(new) {
			out = append(out, req)
		}
	}
	return out
}

// seen is what of a cluster has changed. The values are compared as they are written.
func seen(c *clusterv1.ManagedCluster, change cluster.Change) target.Cluster {
	out := target.Cluster{Name: c.Name}
	if change.Labels {
		out.Labels = c.Labels
	}
	if change.Annotations {
		out.Annotations = c.Annotations
	}
	if change.Claims {
		out.Claims = cluster.Claims(c)
	}
	return out
}

func annotated(c *clusterv1.ManagedCluster) string {
	return c.Annotations[v1alpha1.AnnotationClusterValues]
}

// namespacesOf are those that can reach a cluster.
func (r *Reconciler) namespacesOf(ctx context.Context, o client.Object) []string {
	namespaces, err := tenancy.Namespaces(ctx, r.Reader, o.GetLabels())
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Cannot tell which bundles an event is for", "cluster", o.GetName())
	}
	return namespaces
}

// difference are the strings that are in one of two lists without duplicates only.
func difference(a, b []string) []string {
	count := map[string]int{}
	for _, s := range append(append([]string{}, a...), b...) {
		count[s]++
	}
	var out []string
	for s, n := range count {
		if n == 1 {
			out = append(out, s)
		}
	}
	return out
}

// addOnEvents enqueue the bundles that a change of a ManagedClusterAddOn can affect.
func (r *Reconciler) addOnEvents() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { enqueue(q, r.ofAddOn(ctx, e.Object, true)) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { enqueue(q, r.ofAddOn(ctx, e.Object, true)) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			a, b := e.ObjectOld.(*addonv1beta1.ManagedClusterAddOn), e.ObjectNew.(*addonv1beta1.ManagedClusterAddOn)
			whole := cluster.AddOnState(a) != cluster.AddOnState(b) || cluster.AgentNamespace(a) != cluster.AgentNamespace(b) ||
				(a.Status.Namespace == "") != (b.Status.Namespace == "")
			if whole || !variables.SameConfig(a, b) {
				enqueue(q, r.ofAddOn(ctx, b, whole))
			}
		},
	}
}

// ofAddOn are the bundles that can reach the cluster of an add-on and those that have a
// work there or, unless whole, only those of them that use values of clusters.
func (r *Reconciler) ofAddOn(ctx context.Context, o client.Object, whole bool) []reconcile.Request {
	c := &clusterv1.ManagedCluster{}
	if err := r.Reader.Get(ctx, client.ObjectKey{Name: o.GetNamespace()}, c); err != nil {
		return r.bundlesOn(ctx, o.GetNamespace())
	}
	if whole {
		return r.ofCluster(ctx, c)
	}
	return r.usingValues(r.bundlesIn(ctx, r.namespacesOf(ctx, c)))
}

func (r *Reconciler) usingValues(all []reconcile.Request) []reconcile.Request {
	var out []reconcile.Request
	for _, req := range all {
		if r.interests.get(req.NamespacedName).usesValues() {
			out = append(out, req)
		}
	}
	return out
}

// ofConfig remembers an AddOnDeploymentConfig, and returns the bundles that use values of
// clusters: it may be the one that some cluster has been waiting for.
func (r *Reconciler) ofConfig(ctx context.Context, o client.Object) []reconcile.Request {
	if config, ok := o.(*unstructured.Unstructured); ok && config.GetDeletionTimestamp().IsZero() {
		r.Values.Remember(config)
	}
	return r.usingValues(r.bundlesIn(ctx, []string{""}))
}

// borrowing are the bundles that can name ClusterGroups of one of the namespaces.
func (r *Reconciler) borrowing(ctx context.Context, namespaces []string) []reconcile.Request {
	if len(namespaces) == 0 {
		return nil
	}
	borrowers, err := tenancy.Borrowers(ctx, r.Reader)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Cannot tell which bundles an event is for", "namespaces", namespaces)
		return nil
	}
	var out []reconcile.Request
	for _, req := range r.bundlesIn(ctx, borrowers) {
		if r.interests.get(req.NamespacedName).borrows(namespaces) {
			out = append(out, req)
		}
	}
	return out
}

// bundlesIn returns the bundles of namespaces; "" stands for all.
func (r *Reconciler) bundlesIn(ctx context.Context, namespaces []string) []reconcile.Request {
	var out []reconcile.Request
	for _, namespace := range namespaces {
		var list fleet.BundleList
		if err := r.Reader.List(ctx, &list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Cannot list the bundles of a namespace", "namespace", namespace)
			continue
		}
		for i := range list.Items {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return out
}
