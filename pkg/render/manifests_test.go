package render

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

func TestForcedNamespace(t *testing.T) {
	const (
		crd    = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: xs.example.com}\nspec: {group: example.com, scope: Cluster, names: {kind: X}}\n"
		x      = "apiVersion: example.com/v1\nkind: X\nmetadata: {name: x}\n"
		denied = "a cluster-scoped object cannot go into the namespace team that option `namespace` forces; use `defaultNamespace`"
	)
	tests := map[string]struct {
		in      Input
		wantErr string
	}{
		"an object in a namespace":                {input("a.yaml", configMap), ""},
		"an object in another namespace":          {input("a.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: other}\n"), ""},
		"a kind that is not known":                {input("a.yaml", x), ""},
		"a cluster-scoped kind":                   {input("a.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n"), "Namespace x: " + denied},
		"a kind of the chart's CRDs":              {input("Chart.yaml", chartYAML, "crds/x.yaml", crd, "templates/x.yaml", x), "X x: " + denied},
		"what only sounds like a kind that is":    {input("a.yaml", "apiVersion: example.com/v1\nkind: Node\nmetadata: {name: x}\n"), ""},
		"a kind of a CRD beside it is known, too": {input("a.yaml", crd, "x.yaml", x), denied},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.in.Options.TargetNamespace, tc.in.Namespace = "team", "team"
			got, err := rendered(t, tc.in)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) || !errors.Is(err, ErrInvalid) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || !strings.Contains(got, "namespace: team") {
				t.Errorf("%v, rendered %s", err, got)
			}
		})
	}
}

func TestHelmOptions(t *testing.T) {
	const schema = `{"properties": {"x": {"type": "integer"}}}`
	versioned := []string{"Chart.yaml", chartYAML + "kubeVersion: '>=1.40'\n", "templates/a.yaml", configMap + "  version: {{ .Capabilities.KubeVersion.Minor | quote }}\n"}
	tests := map[string]struct {
		in            Input
		version       string
		want, wantErr string
	}{
		"a Kubernetes that is too old":  {input(versioned...), "1.39", "", "chart requires kubeVersion: >=1.40 which is incompatible with Kubernetes v1.39"},
		"a Kubernetes that is new":      {input(versioned...), "v1.41.2", `version: "41"`, ""},
		"a version that is none":        {input(versioned...), "new", "", `Kubernetes version "new"`},
		"values that the schema denies": {input("Chart.yaml", chartYAML, "values.schema.json", schema, "templates/a.yaml", configMap), "", "", "values don't meet the specifications of the schema"},
		"values that no schema looks at": {
			input("Chart.yaml", chartYAML, "values.schema.json", schema, "templates/a.yaml", configMap).with(fleet.HelmOptions{SkipSchemaValidation: true}), "", "text: two", "",
		},
		"no answer of a name server": {
			input("Chart.yaml", chartYAML, "templates/a.yaml", configMap+"  host: '{{ getHostByName \"localhost\" }}'\n").with(fleet.HelmOptions{DisableDNS: true}), "", "host: \"\"", "",
		},
		"what stands in the cluster": {
			input("Chart.yaml", chartYAML, "templates/a.yaml", configMap+"  found: '{{ lookup \"v1\" \"Secret\" \"a\" \"b\" }}'\n"), "", "found: map[]", "",
		},
		"a CRD that cannot be read": {
			input("Chart.yaml", chartYAML, "crds/a.yaml", "x: 1", "templates/a.yaml", configMap), "", "", "crds/a.yaml: document 1: apiVersion is missing",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects, err := Manifests(context.Background(), tc.in, tc.version)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := text(t, objects); !strings.Contains(got, tc.want) {
				t.Errorf("rendered %s", got)
			}
		})
	}
}

func TestValuesStayAsTheyAre(t *testing.T) {
	in := input("Chart.yaml", chartYAML+"dependencies: [{name: db}]\n", "values.yaml", "y: {z: 1}", "templates/a.yaml", configMap,
		"charts/db/Chart.yaml", "apiVersion: v2\nname: db\nversion: 1.0.0\n", "charts/db/values.yaml", "size: 1")
	in.Values = map[string]any{"x": "two", "y": map[string]any{"a": "b"}, "db": map[string]any{}}
	if _, err := rendered(t, in); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"x": "two", "y": map[string]any{"a": "b"}, "db": map[string]any{}}
	if diff := cmp.Diff(want, in.Values); diff != "" {
		t.Error(diff)
	}
}

func TestTemplateThatNeverEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	in := input("Chart.yaml", chartYAML, "templates/a.yaml", "{{ range until 1000 }}{{ range until 1000 }}{{ end }}{{ end }}")
	if _, err := Manifests(ctx, in, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
