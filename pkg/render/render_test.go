package render

import (
	"context"
	"errors"
	"strings"
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

const (
	chartYAML = "apiVersion: v2\nname: web\nversion: 1.0.0\n"
	configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  text: \"{{ .Values.x }}\"\n"
)

// input is a bundle of files, given as names and texts in turn.
func input(nameAndData ...string) Input {
	in := Input{Bundle: "team/web", Release: "web", Namespace: "default", Content: "s-1", Values: map[string]any{"x": "two"}}
	for i := 0; i < len(nameAndData); i += 2 {
		in.Files = append(in.Files, content.File{Name: nameAndData[i], Data: []byte(nameAndData[i+1])})
	}
	return in
}

// with sets options of Helm.
func (in Input) with(o fleet.HelmOptions) Input {
	in.Options.Helm = &o
	return in
}

// rendered is the text of what Manifests gives.
func rendered(t *testing.T, in Input) (string, error) {
	t.Helper()
	objects, err := Manifests(context.Background(), in, "")
	if err != nil {
		return "", err
	}
	return text(t, objects), nil
}

func text(t *testing.T, objects []*unstructured.Unstructured) string {
	t.Helper()
	out, err := manifest.Render(objects)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestStyles(t *testing.T) {
	fetched := fleet.HelmOptions{Chart: "web", Repo: "https://charts.example", Version: "^1"}
	// As Fleet's command line names it.
	const at = ".chart/9ccdd97bb443b2e886b70192d5e5938092d07ba13391fb80e28e54ebbd647c14"
	tests := map[string]struct {
		in      Input
		want    string
		wantErr string
	}{
		"a chart at the root is templated": {
			input("Chart.yaml", chartYAML, "values.yaml", "x: one", "templates/a.yaml", configMap), `text: two`, "",
		},
		"a chart in a folder": {
			input("charts/web/Chart.yaml", chartYAML, "charts/web/templates/a.yaml", configMap, "b.yaml", "no").
				with(fleet.HelmOptions{Chart: "./charts/web"}), `text: two`, "",
		},
		"a chart whose folder is the repo": {
			input("web/Chart.yaml", chartYAML, "web/templates/a.yaml", configMap).
				with(fleet.HelmOptions{Repo: "web"}), `text: two`, "",
		},
		"a fetched chart": {
			input(at+"/Chart.yaml", chartYAML, at+"/templates/a.yaml", configMap).with(fetched), `text: two`, "",
		},
		"a fetched chart in the folder of its archive": {
			input(at+"/web/Chart.yaml", chartYAML, at+"/web/templates/a.yaml", configMap).with(fetched), `text: two`, "",
		},
		"a fetched chart beside that of another version, and beside a folder of its name": {
			input(at+"/Chart.yaml", chartYAML, at+"/templates/a.yaml", configMap, ".chart/0/Chart.yaml", "no", "web/Chart.yaml", "no").
				with(fetched), `text: two`, "",
		},
		"a chart that was not fetched": {
			input("a.yaml", configMap).with(fetched), "", "helm.chart: the bundle does not carry the chart, which belongs below " + at,
		},
		"no chart where the option says": {
			input("Chart.yaml", chartYAML).with(fleet.HelmOptions{Chart: "charts/web"}), "", "helm.chart: the bundle has no file charts/web/Chart.yaml",
		},
		"options of Helm do not make a chart": {
			input("a.yaml", configMap).with(fleet.HelmOptions{ReleaseName: "x"}), "text: '{{ .Values.x }}'", "",
		},
		"a chart that is none":      {input("Chart.yaml", "x: 1"), "", "chart .: "},
		"a library":                 {input("Chart.yaml", chartYAML+"type: library\n"), "", "library"},
		"a missing dependency":      {input("Chart.yaml", chartYAML+"dependencies: [{name: db, version: 1.0.0}]\n"), "", "db"},
		"raw YAML is not templated": {input("a.yaml", configMap), "text: '{{ .Values.x }}'", ""},
		"raw YAML is no hook": {
			input("a.yaml", strings.Replace(configMap, "name: a", "name: a\n  annotations: {helm.sh/hook: test}", 1)), "helm.sh/hook: test", "",
		},
		"raw YAML in templates/ is": {input("templates/a.yaml", configMap), "text: two", ""},
		"raw files of any name":     {input("sub/_a.yml", configMap), `name: a`, ""},
		"other files are left out": {
			input("a.yaml", configMap, "README.md", "# x", "fleet.yaml", "x: 1", "overlays/dev/b.yaml", "x: 1"), `name: a`, "",
		},
		"bundles and charts below are left out": {
			input("a.yaml", configMap, "b/fleet.yaml", "x: 1", "b/x.yaml", "x: 1", "c/Chart.yaml", "x: 1", "c/d/x.yaml", "x: 1", ".chart/0/x.yaml", "x: 1"), `name: a`, "",
		},
		"a document without kind": {
			input("a.yaml", configMap, "b/values.yaml", "x: 1"), "", "b/values.yaml: document 1: apiVersion is missing",
		},
		"bad YAML":         {input("a.yaml", "a: b: c"), "", "a.yaml: document 1"},
		"no object at all": {input("README.md", "# x"), "", "has no chart and no Kubernetes object"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := rendered(t, tc.in)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) || !errors.Is(err, ErrInvalid) {
					t.Fatalf("error %v, want %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(got, tc.want) || strings.Count(got, "---") != 1 {
				t.Errorf("rendered %s", got)
			}
		})
	}
}
