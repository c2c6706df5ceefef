package deployment

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestKubeVersion: what is taken where nothing says more grows with the libraries.
func TestKubeVersion(t *testing.T) {
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	minor := regexp.MustCompile(`k8s\.io/client-go v0\.(\d+)\.`).FindSubmatch(mod)
	if minor == nil || KubeVersion != "1."+string(minor[1]) {
		t.Errorf("KubeVersion is %s, and go.mod has client-go %s", KubeVersion, minor)
	}
}

// TestRenderHides: what a template says may have values in it, and an error must not.
func TestRenderHides(t *testing.T) {
	set, err := Read("file.yaml", []byte(ours(t, "c1")))
	if err != nil {
		t.Fatal(err)
	}
	d, err := set.Choose("", "")
	if err != nil {
		t.Fatal(err)
	}
	d.Values = []byte("password: hunter22")
	d.Files[0].Name, d.Files[0].Data = "templates/x.yaml", []byte(`{{ fail (printf "bad %s" .Values.password) }}`)
	d.Files = append(d.Files, d.Files[0])
	d.Files[1].Name, d.Files[1].Data = "Chart.yaml", []byte("apiVersion: v2\nname: x\nversion: 1.0.0\n")
	_, err = d.Render(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "bad ***") || strings.Contains(err.Error(), "hunter22") {
		t.Errorf("got %v", err)
	}
	d.Values = []byte("{hunter22")
	if _, err = d.Render(t.Context(), ""); err == nil || strings.Contains(err.Error(), "hunter22") || !strings.Contains(err.Error(), "are no YAML map") {
		t.Errorf("got %v", err)
	}
}
