package target

import (
	"strings"
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"sigs.k8s.io/yaml"
)

// Whatever values people write, rendering ends with values or with an error that names
// the cluster, and changes nothing that it was given.
func FuzzRender(f *testing.F) {
	for _, seed := range []string{
		"{a: global.fleet.clusterLabels.env}", `{a: "${ .ClusterName }", b: {c: ["${ .ClusterLabels.env }"]}}`, `{"${ .ClusterName }": 1}`,
		`{a: "${ if true }", b: "${ end }"}`, `{a: "${- .ClusterName -}", b: 1}`, `{a: "${ set .ClusterValues ` + "`x`" + ` 1 }"}`, `{a: "${ ["}`,
	} {
		f.Add(seed, "${ list 1 | toJson }")
	}
	f.Fuzz(func(t *testing.T, text, templateValue string) {
		var data map[string]any
		if len(text) > 4096 || yaml.Unmarshal([]byte(text), &data) != nil {
			return
		}
		before, err := yaml.Marshal(data)
		if err != nil {
			return
		}
		o := fleet.BundleDeploymentOptions{Helm: &fleet.HelmOptions{
			Values: &fleet.GenericMap{Data: data}, TemplateValues: map[string]string{"key": templateValue},
		}}
		got, err := Render("apps", o, edge())
		if err != nil && !strings.HasPrefix(err.Error(), "cluster edge1: helm.") {
			t.Fatal(err)
		}
		if err == nil && got.Helm.TemplateValues != nil {
			t.Fatal("templateValues are left")
		}
		if after, err := yaml.Marshal(data); err != nil || string(after) != string(before) {
			t.Fatalf("values were changed from\n%s to\n%s, %v", before, after, err)
		}
	})
}
