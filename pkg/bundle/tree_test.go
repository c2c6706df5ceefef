package bundle

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

// tree is a directory by paths: the content of files, and "-> TARGET" for symlinks.
type tree map[string]string

// write makes the tree below a directory of its own and returns that.
func (files tree) write(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	for name, data := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, link := strings.CutPrefix(data, "-> "); link {
			err = os.Symlink(target, file)
		} else {
			err = os.WriteFile(file, []byte(data), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// read makes bundles of a tree.
func (files tree) read(t testing.TB, q Request) ([]Made, error) {
	t.Helper()
	q.Root = files.write(t)
	if q.Name == "" {
		q.Name = "repo"
	}
	return Read(context.Background(), q)
}

// one is the only bundle of a tree.
func (files tree) one(t testing.TB, q Request) *fleet.Bundle {
	t.Helper()
	made, err := files.read(t, q)
	if err != nil {
		t.Fatal(err)
	}
	if len(made) != 1 {
		t.Fatalf("%d bundles, want one", len(made))
	}
	return made[0].Bundle
}

func resourceNames(b *fleet.Bundle) []string {
	names := []string{}
	for _, r := range b.Spec.Resources {
		names = append(names, r.Name)
	}
	return names
}

func bundleNames(all []Made) []string {
	names := []string{}
	for _, m := range all {
		names = append(names, m.Bundle.Name)
	}
	return names
}

// wantError expects an error that has all of these words.
func wantError(t testing.TB, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q has no %q", err, w)
		}
	}
}
