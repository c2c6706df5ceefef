package release

import (
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

func TestKeyOf(t *testing.T) {
	named := &fleet.HelmOptions{ReleaseName: "other"}
	tests := map[string]struct {
		bundle  string
		options fleet.BundleDeploymentOptions
		want    string
	}{
		"nothing set":            {"apps/web", fleet.BundleDeploymentOptions{}, "default/web"},
		"a default namespace":    {"apps/web", fleet.BundleDeploymentOptions{DefaultNamespace: "a"}, "a/web"},
		"a forced namespace":     {"apps/web", fleet.BundleDeploymentOptions{DefaultNamespace: "a", TargetNamespace: "b"}, "b/web"},
		"a release name":         {"apps/web", fleet.BundleDeploymentOptions{Helm: named}, "default/other"},
		"as long as Helm allows": {"apps/aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeefff", fleet.BundleDeploymentOptions{}, "default/aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeefff"},
		"longer, cut at a dot":   {"apps/aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeee.ffffffffff", fleet.BundleDeploymentOptions{}, "default/aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeee-13bc3"},
		// The example of Fleet's documentation.
		"longer": {"apps/opni-fleet-examples-fleets-opni-ui-plugin-operator-crd", fleet.BundleDeploymentOptions{}, "default/opni-fleet-examples-fleets-opni-ui-plugin-opera-021f7"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := KeyOf(tc.bundle, tc.options).String(); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}
