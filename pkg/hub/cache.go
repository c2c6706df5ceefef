package hub

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

// CacheOptions are what the cache has to hold, and no more: of the hub's
// ManifestWorks only ours and without what they carry, of its add-ons only
// `fleet`. What exists once per cluster is handed out without a copy, as all
// controllers only read it.
func CacheOptions() (cache.Options, error) {
	ours, err := labels.NewRequirement(v1alpha1.LabelBundle, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, err
	}
	shared := true
	return cache.Options{
		DefaultTransform:            cache.TransformStripManagedFields(),
		ReaderFailOnMissingInformer: true,
		ByObject: map[client.Object]cache.ByObject{
			&workv1.ManifestWork{}: {
				Label:                 labels.NewSelector().Add(*ours),
				Transform:             work.Strip,
				UnsafeDisableDeepCopy: &shared,
			},
			&addonv1beta1.ManagedClusterAddOn{}: {
				Field:                 fields.OneTermEqualSelector("metadata.name", v1alpha1.AddOnName),
				UnsafeDisableDeepCopy: &shared,
			},
			&addonv1beta1.ClusterManagementAddOn{}: {
				Field: fields.OneTermEqualSelector("metadata.name", v1alpha1.AddOnName),
			},
			&clusterv1.ManagedCluster{}:         {UnsafeDisableDeepCopy: &shared},
			&clusterv1beta1.PlacementDecision{}: {UnsafeDisableDeepCopy: &shared},
		},
	}, nil
}
