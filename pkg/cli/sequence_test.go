package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/yaml"
)

// What Fleet's documentation shows for bundles without a cluster runs as it is written.
func TestFleetsSequenceRunsWithoutACluster(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "simple-chart"), os.DirFS(filepath.Join("..", "..", "examples", "simple-chart"))); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("HOME", t.TempDir())
	// Empty is as good as not there, and is set back after the test.
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")

	if _, told := commandLine(t, "apply -n fleet-local -o bundle.yaml testbundle simple-chart/"); !strings.Contains(told, "bundle.yaml") {
		t.Errorf("apply says %q, want where the bundle is", told)
	}
	printed, told := commandLine(t, "target --bundle-file bundle.yaml --dump-input-list")
	for _, want := range []string{"no kubeconfig", "fleet-local/testbundle-simple-chart", "Target: default"} {
		if !strings.Contains(told, want) {
			t.Errorf("target says %q, want %q in it", told, want)
		}
	}
	if err := os.WriteFile("bd.yaml", []byte(printed), 0o600); err != nil {
		t.Fatal(err)
	}
	rendered, _ := commandLine(t, "deploy --input-file bd.yaml --dry-run")
	var got []map[string]any
	if err := yaml.Unmarshal([]byte(rendered), &got); err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "simple-chart"}, "data": map[string]any{"message": "hello"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rendered (-want +got):\n%s", diff)
	}
}

// commandLine runs fleetctl with words that have spaces between them, and returns what it
// prints and what it tells beside that.
func commandLine(t *testing.T, words string) (printed, told string) {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd := NewCommand(genericclioptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut})
	cmd.SetArgs(strings.Fields(words))
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("fleetctl %s: %v\n%s", words, err, errOut.String())
	}
	return out.String(), errOut.String()
}
