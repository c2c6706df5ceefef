package release

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"open-cluster-management.io/fleet-addon/pkg/agent/fault"
	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/render"
)

const (
	chartYAML = "apiVersion: v2\nname: web\nversion: 1.0.0\n"
	configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  text: \"{{ .Values.x }}\"\n"
)

func files(nameAndData ...string) []content.File {
	var out []content.File
	for i := 0; i < len(nameAndData); i += 2 {
		out = append(out, content.File{Name: nameAndData[i], Data: []byte(nameAndData[i+1])})
	}
	return out
}

func TestNewSource(t *testing.T) {
	tests := map[string]struct {
		files   []content.File
		values  string
		wantErr string
	}{
		"a chart":                {files("Chart.yaml", chartYAML, "templates/a.yaml", configMap), "x: two", ""},
		"what cannot be read":    {files("a.yaml", "a: b: c"), "x: secret-value", "a.yaml: document 1"},
		"values that are no map": {files("Chart.yaml", chartYAML), "secret-value", "the Helm values are no YAML map"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := NewSource(wanted(), tc.files, []byte(tc.values))
			if tc.wantErr == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Fatalf("error %v, want %q", err, tc.wantErr)
			}
			if fault.KindOf(err) != fault.Terminal || strings.Contains(err.Error(), "secret-value") {
				t.Errorf("not terminal, or with a value: %v", err)
			}
		})
	}
}

func TestWantOf(t *testing.T) {
	tests := map[string]struct {
		options fleet.BundleDeploymentOptions
		wantErr string
	}{
		"nothing set": {fleet.BundleDeploymentOptions{}, ""},
		"what is supported": {fleet.BundleDeploymentOptions{
			DefaultNamespace: "x", KeepResources: true, Helm: &fleet.HelmOptions{Force: true, TakeOwnership: true, MaxHistory: 3, Repo: "x"},
			GitOpsBundleDeploymentOptions: fleet.GitOpsBundleDeploymentOptions{
				Kustomize: &fleet.KustomizeOptions{Dir: "x"}, YAML: &fleet.YAMLOptions{Overlays: []string{"dev"}},
			},
		}, ""},
		"several": {fleet.BundleDeploymentOptions{
			ServiceAccount: "x", Helm: &fleet.HelmOptions{Atomic: true, WaitForJobs: true, ValuesFrom: []fleet.ValuesFrom{{}}},
		}, "spec.options: helm.atomic, helm.valuesFrom, helm.waitForJobs, serviceAccount not supported"},
		"the namespace's": {fleet.BundleDeploymentOptions{
			NamespaceLabels: map[string]string{"a": "b"}, NamespaceAnnotations: map[string]string{"a": "b"},
			DownstreamResources: []fleet.DownstreamResource{{}}, AllowedTargetNamespaceSelector: &metav1.LabelSelector{},
		}, "spec.options: allowedTargetNamespaceSelector, downstreamResources, namespaceAnnotations, namespaceLabels not supported"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := WantOf(&v1alpha1.BundleDeployment{Spec: v1alpha1.BundleDeploymentSpec{Bundle: "a/b", Options: tc.options}})
			if tc.wantErr == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), tc.wantErr) || fault.KindOf(err) != fault.Terminal {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestPostRenderer(t *testing.T) {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, meta.RESTScopeNamespace)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, meta.RESTScopeRoot)
	forced := func(w *Want) { w.Options.TargetNamespace = "team" }
	deletes := func(w *Want) { w.Options.DeleteCRDResources = true }
	const (
		crd       = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: x\n"
		namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: x\n"
		labels    = "  labels:\n    fleet.open-cluster-management.io/bundle-deployment: bd\n"
	)
	tests := map[string]struct {
		want    Want
		in, out string
		wantErr string
	}{
		"the owner on top, not in templates": {
			wanted(), "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {template: {metadata: {labels: {a: b}}}}\n",
			"---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n" + labels + "  name: x\nspec:\n  template:\n    metadata:\n      labels:\n        a: b\n", "",
		},
		"a CRD is kept": {
			wanted(), crd, "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  annotations:\n    helm.sh/resource-policy: keep\n" + labels + "  name: x\n", "",
		},
		"a CRD goes if asked for": {
			wanted(deletes), crd, "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n" + labels + "  name: x\n", "",
		},
		"a forced namespace": {
			wanted(forced), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: other}\n",
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n" + labels + "  name: x\n  namespace: team\n", "",
		},
		"a forced namespace for a cluster-scoped object": {wanted(forced), namespace, "", "Namespace x: a cluster-scoped object cannot go"},
		"a forced namespace for an unknown kind":         {wanted(forced), crd, "", "no matches for kind"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			source := &Source{input: render.Input{Options: tc.want.Options}}
			out, err := postRenderer{&session{Client: &Client{mapper: mapper}, want: tc.want, source: source}}.Run(bytes.NewBufferString(tc.in))
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.out, out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPostRendererKustomizes(t *testing.T) {
	run := func(kustomization string) (*bytes.Buffer, error) {
		source := &Source{input: render.Input{Files: files("kustomization.yaml", kustomization)}}
		return postRenderer{&session{want: wanted(), source: source}}.Run(bytes.NewBufferString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"))
	}
	out, err := run("namePrefix: my-")
	if err != nil {
		t.Fatal(err)
	}
	const want = "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels:\n    fleet.open-cluster-management.io/bundle-deployment: bd\n  name: my-x\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if _, err := run("resources: [https://example.com/x]"); fault.KindOf(err) != fault.Terminal {
		t.Errorf("not terminal: %v", err)
	}
}
