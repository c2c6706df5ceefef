package toolchain

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The versions in the code name cache folders and stamp binaries; what is built is what go.mod says.
func TestVersionsAreThoseOfTheToolModules(t *testing.T) {
	for _, g := range groups() {
		t.Run(g.module, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("..", "..", "tools", g.module, "go.mod"))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(data), g.path+" "+g.version) {
				t.Errorf("tools/%s/go.mod does not require %s %s", g.module, g.path, g.version)
			}
		})
	}
}

func TestChosen(t *testing.T) {
	for name, test := range map[string]struct {
		names, want []string
		wantErr     string
	}{
		"what an environment needs":             {want: []string{"etcd", "kube", "ocm", "kwok"}},
		"what is named, in the order of builds": {names: []string{"fleet", "kube"}, want: []string{"kube", "fleet"}},
		"what is not there names all that there is": {names: []string{"fleet", "helm"},
			wantErr: `nothing to build is called "helm": there are etcd, kube, ocm, kwok, fleet`},
	} {
		t.Run(name, func(t *testing.T) {
			groups, err := chosen(test.names)
			if text := errorText(err); text != test.wantErr {
				t.Fatalf("error %q, want %q", text, test.wantErr)
			}
			var got []string
			for _, g := range groups {
				got = append(got, g.module)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
