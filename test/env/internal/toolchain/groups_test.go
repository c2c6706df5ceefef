package toolchain

import (
	"os"
	"path/filepath"
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
