package addon

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

const defaultImage = "quay.io/open-cluster-management/fleet-addon:0.1.0"

func logLevelOf(configs *configs, addon *addonv1beta1.ManagedClusterAddOn) (string, error) {
	values, err := agentValues{configs: configs, image: defaultImage, version: "0.1.0"}.forCluster(newCluster(nil), addon)
	level, _ := values[variableLogLevel].(string)
	return level, err
}

func newCluster(annotations map[string]string) *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "dev", Annotations: annotations}}
}

func TestValues(t *testing.T) {
	mirrors := map[string]string{clusterv1.ClusterImageRegistriesAnnotationKey: `{"registries":[
		{"source":"quay.io/open-cluster-management","mirror":"cluster.example.com/ocm"}]}`}
	registries := []any{map[string]any{"source": "quay.io/open-cluster-management", "mirror": "config.example.com/ocm"}}

	for name, tc := range map[string]struct {
		spec    map[string]any
		cluster map[string]string
		want    map[string]any
	}{
		"nothing set: the manager's image": {
			spec: map[string]any{},
			want: map[string]any{"image": defaultImage},
		},
		"variables that the agent knows": {
			spec: variables("version", "0.1.0", "image", "example.com/fleet-addon:2", "logLevel", "debug",
				"imagePullPolicy", "Always", "imagePullSecret", "pull", "statusInterval", "30s"),
			want: map[string]any{
				"image": "example.com/fleet-addon:2", "logLevel": "debug", "imagePullPolicy": "Always",
				"imagePullSecret": "pull", "args": []any{"--report-interval=30s"},
			},
		},
		"variables of others are left alone": {
			spec: variables("global", "x", "clusterName", "y", "resources", "z"),
			want: map[string]any{"image": defaultImage},
		},
		"a mirror of the config": {
			spec: map[string]any{"registries": registries},
			want: map[string]any{"image": "config.example.com/ocm/fleet-addon:0.1.0"},
		},
		"a mirror of the cluster": {
			spec: map[string]any{}, cluster: mirrors,
			want: map[string]any{"image": "cluster.example.com/ocm/fleet-addon:0.1.0"},
		},
		"the config's mirror wins": {
			spec: map[string]any{"registries": registries}, cluster: mirrors,
			want: map[string]any{"image": "config.example.com/ocm/fleet-addon:0.1.0"},
		},
		"the mirror also holds for an image from a variable": {
			spec:    variables("image", "quay.io/open-cluster-management/fleet-addon:9"),
			cluster: mirrors,
			want:    map[string]any{"image": "cluster.example.com/ocm/fleet-addon:9"},
		},
		"placement and proxy": {
			spec: map[string]any{
				"nodePlacement": map[string]any{
					"nodeSelector": map[string]any{"disk": "ssd"},
					"tolerations":  []any{map[string]any{"key": "infra", "operator": "Exists"}},
				},
				"proxyConfig": map[string]any{"httpsProxy": "https://proxy:3128", "noProxy": "10.0.0.0/8"},
			},
			want: map[string]any{
				"image":       defaultImage,
				"tolerations": []any{map[string]any{"key": "infra", "operator": "Exists"}},
				"global": map[string]any{
					"nodeSelector": map[string]any{"disk": "ssd"},
					"proxyConfig":  map[string]any{"HTTPS_PROXY": "https://proxy:3128", "NO_PROXY": "10.0.0.0/8"},
				},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := valuesFor(t, tc.spec, tc.cluster)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValuesRefuse(t *testing.T) {
	for name, tc := range map[string]struct {
		spec    map[string]any
		cluster map[string]string
		want    string
	}{
		"a config for another version": {
			spec: variables("version", "0.0.9"),
			want: `AddOnDeploymentConfig hub/config: spec.customizedVariables: version: is "0.0.9", and this manager deploys "0.1.0"`,
		},
		"a log level that is none": {spec: variables("logLevel", "loud"), want: `logLevel: is "loud", want one of ["error"`},
		"a pull policy":            {spec: variables("imagePullPolicy", "Maybe"), want: `imagePullPolicy: is "Maybe"`},
		"an interval":              {spec: variables("statusInterval", "-1s"), want: `statusInterval: is "-1s"`},
		"an empty image":           {spec: variables("image", ""), want: `image: is empty`},
		"an annotation that is no JSON": {
			spec: map[string]any{}, cluster: map[string]string{clusterv1.ClusterImageRegistriesAnnotationKey: "{"},
			want: "ManagedCluster dev: annotation open-cluster-management.io/image-registries:",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := valuesFor(t, tc.spec, tc.cluster)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q in it", err, tc.want)
			}
		})
	}
}

func valuesFor(t *testing.T, spec map[string]any, annotations map[string]string) (map[string]any, error) {
	t.Helper()
	config, addon, configs := newConfig(spec), newAddon(), newConfigs()
	configs.OnAdd(config, true)
	follow(t, addon, config)
	return agentValues{configs: configs, image: defaultImage, version: "0.1.0"}.forCluster(newCluster(annotations), addon)
}
