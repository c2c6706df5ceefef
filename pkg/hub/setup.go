package hub

import (
	"context"
	"fmt"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/bundle"
	"open-cluster-management.io/fleet-addon/pkg/hub/content"
	"open-cluster-management.io/fleet-addon/pkg/hub/drain"
	"open-cluster-management.io/fleet-addon/pkg/hub/placement"
	"open-cluster-management.io/fleet-addon/pkg/hub/policy"
	"open-cluster-management.io/fleet-addon/pkg/hub/tenancy"
	"open-cluster-management.io/fleet-addon/pkg/hub/variables"
)

// SetupWithManager adds all controllers to a manager whose cache has CacheOptions.
func SetupWithManager(mgr ctrl.Manager, opts *Options) error {
	// Nothing of an index is read before the manager runs.
	ctx := context.Background()
	for _, add := range []func(context.Context, client.FieldIndexer) error{
		tenancy.AddIndexes, bundle.AddIndexes, content.AddIndexes, policy.AddIndexes,
	} {
		if err := add(ctx, mgr.GetFieldIndexer()); err != nil {
			return err
		}
	}
	// An event of one kind is mapped by reading others: all of them have to be there
	// before the first event comes.
	for _, kind := range cached() {
		if _, err := mgr.GetCache().GetInformer(ctx, kind, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("watch %T: %w", kind, err)
		}
	}
	reader, live, writer := client.Reader(mgr.GetCache()), mgr.GetAPIReader(), mgr.GetClient()
	nudges := &bundle.Nudges{}
	placements := placement.New(reader, opts.SettleTime, opts.Clock, nudges.Add)
	contents := content.NewStore(writer, live)
	bundles := &bundle.Reconciler{
		Reader: reader, Live: live, Writer: writer, Contents: contents, Placements: placements,
		Values: variables.NewStore(reader), Clock: opts.Clock, RemovalGrace: opts.RemovalGrace, RevisionLimit: opts.RevisionLimit,
		Events: mgr.GetEventRecorder("fleet-addon"), Metrics: bundle.NewMetrics(opts.Clock),
	}
	if err := mgr.Add(serve(metrics.Registry, bundles.Metrics)); err != nil {
		return fmt.Errorf("serve metrics: %w", err)
	}
	collector := &content.Collector{
		Reader: reader, Live: live, Store: contents, Clock: opts.Clock, Grace: opts.ContentGrace, Notify: nudges.Add,
	}
	policies := &policy.Reconciler{Reader: reader, Writer: writer, Clock: opts.Clock}
	drains := &drain.Reconciler{
		Reader: reader, Live: live, Writer: writer, Clock: opts.Clock, Timeout: opts.DrainTimeout,
		Events: mgr.GetEventRecorder("fleet-addon"),
	}
	for name, setup := range map[string]func() error{
		"placement": func() error { return placements.SetupWithManager(mgr) },
		"bundle":    func() error { return bundles.SetupWithManager(mgr, opts.Workers, nudges) },
		"content":   func() error { return collector.SetupWithManager(mgr) },
		"policy":    func() error { return policies.SetupWithManager(mgr) },
		"drain":     func() error { return drains.SetupWithManager(mgr) },
	} {
		if err := setup(); err != nil {
			return fmt.Errorf("set up controller %s: %w", name, err)
		}
	}
	return nil
}

// cached are the kinds that the controllers read from the cache.
func cached() []client.Object {
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	contents := &metav1.PartialObjectMetadata{}
	contents.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Content"))
	configs := &unstructured.Unstructured{}
	configs.SetGroupVersionKind(variables.Kind)
	return []client.Object{
		namespace, contents, configs,
		&fleet.Bundle{}, &fleet.ClusterGroup{}, &fleet.BundleNamespaceMapping{}, &v1alpha1.Rollout{}, &v1alpha1.RolloutPolicy{},
		&clusterv1.ManagedCluster{}, &clusterv1beta2.ManagedClusterSet{}, &clusterv1beta2.ManagedClusterSetBinding{},
		&clusterv1beta1.Placement{}, &clusterv1beta1.PlacementDecision{},
		&addonv1beta1.ClusterManagementAddOn{}, &addonv1beta1.ManagedClusterAddOn{}, &workv1.ManifestWork{},
		&appsv1.ControllerRevision{},
	}
}
