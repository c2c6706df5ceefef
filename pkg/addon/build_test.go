package addon

import (
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"open-cluster-management.io/addon-framework/pkg/utils"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// newAddon is the add-on on cluster dev.
func newAddon() *addonv1beta1.ManagedClusterAddOn {
	return &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: "dev", Name: v1alpha1.AddOnName, UID: "addon-dev",
	}}
}

// newConfig is AddOnDeploymentConfig hub/config with a spec.
func newConfig(spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "addon.open-cluster-management.io/v1beta1",
		"kind":       "AddOnDeploymentConfig",
		"metadata":   map[string]any{"namespace": "hub", "name": "config"},
		"spec":       spec,
	}}
}

func variables(pairs ...string) map[string]any {
	var list []any
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, map[string]any{"name": pairs[i], "value": pairs[i+1]})
	}
	return map[string]any{"customizedVariables": list}
}

// follow makes the config the one in force, as OCM's rollout does.
func follow(t *testing.T, addon *addonv1beta1.ManagedClusterAddOn, config *unstructured.Unstructured) {
	t.Helper()
	hash, err := utils.GetSpecHash(config)
	if err != nil {
		t.Fatal(err)
	}
	addon.Status.ConfigReferences = []addonv1beta1.ConfigReference{{
		ConfigGroupResource: addonv1beta1.ConfigGroupResource{
			Group: utils.AddOnDeploymentConfigGVR.Group, Resource: utils.AddOnDeploymentConfigGVR.Resource,
		},
		DesiredConfig: &addonv1beta1.ConfigSpecHash{
			ConfigReferent: addonv1beta1.ConfigReferent{Namespace: config.GetNamespace(), Name: config.GetName()},
			SpecHash:       hash,
		},
	}}
}

var sorted = cmpopts.SortSlices(func(a, b string) bool { return a < b })
