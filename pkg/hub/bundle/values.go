package bundle

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"open-cluster-management.io/addon-framework/pkg/utils"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/variables"
)

// clusterValues finds what templates know as the values of a cluster.
type clusterValues interface {
	Of(context.Context, *clusterv1.ManagedCluster, *addonv1beta1.ManagedClusterAddOn) (map[string]any, error)
	Remember(config *unstructured.Unstructured)
	Forget(cluster string)
}

// valuesOf are the values of a cluster. manager tells whether its add-on, which may be
// new and not say so yet, will have a config.
func (r *Reconciler) valuesOf(ctx context.Context, manager *addonv1beta1.ClusterManagementAddOn, c *clusterv1.ManagedCluster, addOn *addonv1beta1.ManagedClusterAddOn) (map[string]any, error) {
	if configPending(manager, addOn) {
		return nil, fmt.Errorf("ManagedClusterAddOn %s/%s does not say yet which AddOnDeploymentConfig it has: %w", c.Name, v1alpha1.AddOnName, variables.ErrPending)
	}
	return r.Values.Of(ctx, c, addOn)
}

// configPending tells whether an add-on will have an AddOnDeploymentConfig and has none
// yet: each one if there is a default, one that is new if Placements bring them.
func configPending(manager *addonv1beta1.ClusterManagementAddOn, addOn *addonv1beta1.ManagedClusterAddOn) bool {
	if manager == nil || addOn != nil && len(addOn.Status.ConfigReferences) > 0 {
		return false
	}
	if slices.ContainsFunc(manager.Spec.DefaultConfigs, isDeploymentConfig) {
		return true
	}
	return (addOn == nil || addOn.Status.Namespace == "") &&
		slices.ContainsFunc(manager.Spec.InstallStrategy.Placements, func(p addonv1beta1.PlacementStrategy) bool {
			return slices.ContainsFunc(p.Configs, isDeploymentConfig)
		})
}

func isDeploymentConfig(c addonv1beta1.AddOnConfig) bool {
	return c.Group == utils.AddOnDeploymentConfigGVR.Group && c.Resource == utils.AddOnDeploymentConfigGVR.Resource && c.Name != ""
}
