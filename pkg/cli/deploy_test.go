package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/content"
)

// deploymentFile is a file with a Content of these files, and a BundleDeployment of it in
// Fleet's own kind, with values in it.
func deploymentFile(t *testing.T, values map[string]any, files map[string]string) string {
	t.Helper()
	var resources []fleet.BundleResource
	for name, text := range files {
		resources = append(resources, fleet.BundleResource{Name: name, Content: text})
	}
	name, gz, sum, err := content.Pack(resources)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, o := range []any{
		&fleet.BundleDeployment{
			TypeMeta:   metav1.TypeMeta{APIVersion: fleet.SchemeGroupVersion.String(), Kind: "BundleDeployment"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "cluster-ns", Name: "hello"},
			Spec: fleet.BundleDeploymentSpec{
				DeploymentID: name + ":1", Options: fleet.BundleDeploymentOptions{Helm: &fleet.HelmOptions{Values: &fleet.GenericMap{Data: values}}},
			},
		},
		&v1alpha1.Content{
			TypeMeta:   metav1.TypeMeta{APIVersion: fleet.SchemeGroupVersion.String(), Kind: "Content"},
			ObjectMeta: metav1.ObjectMeta{Name: name}, Content: gz, SHA256Sum: sum,
		},
	} {
		data, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("---\n" + string(data))
	}
	file := filepath.Join(t.TempDir(), "deployment.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const chartFile = "apiVersion: v2\nname: hello\nversion: 1.0.0\nkubeVersion: '>= 1.33'\n"

func TestDryRun(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	file := deploymentFile(t, map[string]any{"key": "s3cret"}, map[string]string{
		"Chart.yaml":            chartFile,
		"templates/map.yaml":    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}', namespace: '{{ .Release.Namespace }}'}\n",
		"templates/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: hello}\nstringData: {key: '{{ .Values.key }}'}\n",
		"templates/hook.yaml":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: before, annotations: {helm.sh/hook: pre-install}}\n",
	})
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"a YAML list, as Fleet prints": {want: `
- apiVersion: v1
  kind: ConfigMap
  metadata:
    annotations:
      helm.sh/hook: pre-install
    name: before
- apiVersion: v1
  kind: Secret
  metadata:
    name: hello
  stringData:
    key: s3cret
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: hello
    namespace: default
`},
		"another namespace, as JSON": {args: []string{"-n", "there", "-o", "json", "--kube-version", "1.40"}, want: `
[
  {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {
      "annotations": {
        "helm.sh/hook": "pre-install"
      },
      "name": "before"
    }
  },
  {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {
      "name": "hello"
    },
    "stringData": {
      "key": "s3cret"
    }
  },
  {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {
      "name": "hello",
      "namespace": "there"
    }
  }
]
`},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, out, _ := genericclioptions.NewTestIOStreams()
			if err := run(t, streams, append([]string{"deploy", "-i", file, "--dry-run"}, tc.args...)...); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, "\n"+out.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestDeployMistakes(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	file := deploymentFile(t, map[string]any{"key": "s3cret-value"}, map[string]string{
		"Chart.yaml":       chartFile,
		"templates/x.yaml": `{{ fail (printf "no %s" .Values.key) }}`,
	})
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no file":                     {[]string{}, `required flag(s) "input-file" not set`},
		"a file that is not there":    {[]string{"-i", "none.yaml"}, "open none.yaml: no such file or directory"},
		"a file without a deployment": {[]string{"-i", os.DevNull}, "no BundleDeployment in it"},
		"another cluster's name":      {[]string{"-i", file, "--cluster", "c9", "-d"}, "no BundleDeployment for cluster c9"},
		"an older Kubernetes":         {[]string{"-i", file, "-d", "--kube-version", "1.20"}, "chart requires kubeVersion: >= 1.33"},
		"a version that is none":      {[]string{"-i", file, "-d", "--kube-version", "new"}, `Kubernetes version "new"`},
		"a template that fails":       {[]string{"-i", file, "-d"}, "no ***"},
		"a wait for nothing":          {[]string{"-i", file, "-d", "--wait"}, "--wait and --dry-run"},
		"a version of a real cluster": {[]string{"-i", file, "--kube-version", "1.40"}, "--kube-version goes with --dry-run"},
		"no cluster":                  {[]string{"-i", file}, "no cluster: there is no kubeconfig; name the cluster's with --kubeconfig"},
		"no time":                     {[]string{"-i", file, "--wait", "--timeout", "0s"}, "--timeout 0s: want a positive duration"},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, _, _ := genericclioptions.NewTestIOStreams()
			err := run(t, streams, append([]string{"deploy"}, tc.args...)...)
			if ExitStatus(err) != 3 || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret-value") {
				t.Errorf("the error has a value in it: %v", err)
			}
		})
	}
}
