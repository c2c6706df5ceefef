package toolchain

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLinkFollowsTheCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bin")
	for _, version := range []string{"/cache/etcd-1/etcd", "/cache/etcd-2/etcd", "/cache/etcd-2/etcd"} {
		if err := (Tools{paths: map[string]string{"etcd": version}}).Link(dir); err != nil {
			t.Fatal(err)
		}
		if got, err := os.Readlink(filepath.Join(dir, "etcd")); err != nil || got != version {
			t.Errorf("the link points to %q (%v), want %s", got, err, version)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%d entries (%v), want the link alone", len(entries), err)
	}
}
