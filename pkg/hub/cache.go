package hub

import (
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/rest"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/lenient"
	"open-cluster-management.io/fleet-addon/pkg/hub/variables"
	"open-cluster-management.io/fleet-addon/pkg/revision"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

// CacheOptions are what the cache has to hold, and no more: of the hub's
// ManifestWorks and ControllerRevisions only ours and without what they carry, of its
// add-ons only `fleet`, of its configs the variables. What exists once per cluster is handed out without a copy, as all
// controllers only read it.
// What tenants write is read item by item.
func CacheOptions(config *rest.Config) (cache.Options, error) {
	ours, err := labels.NewRequirement(v1alpha1.LabelBundle, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, err
	}
	informer, err := lenient.NewInformer(config, bundles, policies, placements)
	if err != nil {
		return cache.Options{}, err
	}
	shared := true
	configs := &unstructured.Unstructured{}
	configs.SetGroupVersionKind(variables.Kind)
	return cache.Options{
		DefaultTransform:            cache.TransformStripManagedFields(),
		ReaderFailOnMissingInformer: true,
		NewInformer:                 informer,
		ByObject: map[client.Object]cache.ByObject{
			&workv1.ManifestWork{}: {
				Label:                 labels.NewSelector().Add(*ours),
				Transform:             work.Strip,
				UnsafeDisableDeepCopy: &shared,
			},
			&appsv1.ControllerRevision{}: {
				Label:     labels.NewSelector().Add(*ours),
				Transform: revision.Strip,
			},
			&addonv1beta1.ManagedClusterAddOn{}: {
				Field:                 fields.OneTermEqualSelector("metadata.name", v1alpha1.AddOnName),
				UnsafeDisableDeepCopy: &shared,
			},
			&addonv1beta1.ClusterManagementAddOn{}: {
				Field: fields.OneTermEqualSelector("metadata.name", v1alpha1.AddOnName),
			},
			configs:                             {Transform: variables.Strip, UnsafeDisableDeepCopy: &shared},
			&clusterv1.ManagedCluster{}:         {UnsafeDisableDeepCopy: &shared},
			&clusterv1beta1.PlacementDecision{}: {UnsafeDisableDeepCopy: &shared},
		},
	}, nil
}

// bundles, policies and placements are what people write freely: one of them that
// cannot be read must not hide the others.
var (
	bundles = lenient.KindOf(fleet.SchemeGroupVersion.WithResource("bundles"),
		func(meta metav1.ListMeta, items []fleet.Bundle) runtime.Object {
			return &fleet.BundleList{ListMeta: meta, Items: items}
		})
	policies = lenient.KindOf(v1alpha1.GroupVersion.WithResource("rolloutpolicies"),
		func(meta metav1.ListMeta, items []v1alpha1.RolloutPolicy) runtime.Object {
			return &v1alpha1.RolloutPolicyList{ListMeta: meta, Items: items}
		})
	placements = lenient.KindOf(schema.GroupVersion(clusterv1beta1.GroupVersion).WithResource("placements"),
		func(meta metav1.ListMeta, items []clusterv1beta1.Placement) runtime.Object {
			return &clusterv1beta1.PlacementList{ListMeta: meta, Items: items}
		})
)
