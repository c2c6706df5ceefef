package render

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

var update = flag.Bool("update", false, "write what is rendered to testdata/*/want.yaml")

// TestGolden renders testdata/CASE/files with the options in options.yaml and expects
// want.yaml.
func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("testdata/*/files")
	if err != nil || len(cases) == 0 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for _, files := range cases {
		dir := filepath.Dir(files)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			got, err := rendered(t, directory(t, dir))
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join(dir, "want.yaml")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// directory is the bundle of one case.
func directory(t *testing.T, dir string) Input {
	t.Helper()
	in := input()
	options, err := os.ReadFile(filepath.Join(dir, "options.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(options, &in.Options); err != nil {
		t.Fatal(err)
	}
	if in.Options.TargetNamespace != "" {
		in.Namespace = in.Options.TargetNamespace
	}
	if in.Options.Helm != nil && in.Options.Helm.Values != nil {
		in.Values = in.Options.Helm.Values.Data
		in.Options.Helm.Values = nil
	}
	root := filepath.Join(dir, "files")
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		in.Files = append(in.Files, content.File{Name: filepath.ToSlash(name), Data: data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return in
}
