package bundle

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

func TestWhichFilesAreCarried(t *testing.T) {
	tests := map[string]struct {
		files tree
		q     Request
		want  []string
	}{
		"all of them, in the order of their paths": {
			tree{"b.yaml": "", "a/z.txt": "", "a.yaml": "", "README.md": ""}, Request{},
			[]string{"README.md", "a.yaml", "a/z.txt", "b.yaml"},
		},
		"no hidden ones": {tree{"a.yaml": "", ".b.yaml": "", ".c/d.yaml": "", "e/.f/g.yaml": ""}, Request{}, []string{"a.yaml"}},
		"no options":     {tree{"fleet.yaml": "", "fleet.yml": "", "a.yaml": ""}, Request{}, []string{"a.yaml"}},
		"no options file of a driven scan, but the others": {
			tree{"fleet.yaml": "", "dev.yaml": "", "env/prod.yaml": "", "a.yaml": ""}, Request{Driven: true, Paths: []string{".:env/prod.yaml"}},
			[]string{"a.yaml", "dev.yaml"},
		},
		"no values files, but others of their name": {
			tree{
				"fleet.yaml":   "helm:\n  valuesFiles: [./env/dev.yaml, values.yaml]\ntargetCustomizations:\n- helm:\n    valuesFiles: [env/prod.yaml]\n",
				"env/dev.yaml": "", "env/prod.yaml": "", "values.yaml": "", "dev.yaml": "", "chart/values.yaml": "", "env/x.yaml": "",
			}, Request{},
			[]string{"chart/values.yaml", "dev.yaml", "env/x.yaml"},
		},
		"nothing that is ignored, here and below": {
			tree{".fleetignore": "# a comment\n*.md\n\nsecret?.yaml  \n", "README.md": "", "a/b/X.md": "", "a/secret1.yaml": "", "secret10.yaml": "", "a.yaml": ""}, Request{},
			[]string{"a.yaml", "secret10.yaml"},
		},
		"what is ignored elsewhere stays":      {tree{"a/.fleetignore": "x.yaml\n", "a/x.yaml": "", "a/c/x.yaml": "", "b/x.yaml": ""}, Request{}, []string{"b/x.yaml"}},
		"a directory is ignored by its name":   {tree{".fleetignore": "skip\n", "skip/a.yaml": "", "b/skip/c.yaml": "", "d.yaml": ""}, Request{}, []string{"d.yaml"}},
		"a directory is ignored by its files":  {tree{".fleetignore": "skip/*\n", "b/skip/c.yaml": "", "d/skip": "", "d.yaml": ""}, Request{}, []string{"d.yaml", "d/skip"}},
		"a path is no pattern":                 {tree{".fleetignore": "a/b.yaml\n", "a/b.yaml": ""}, Request{}, []string{"a/b.yaml"}},
		"lines can end as on Windows":          {tree{".fleetignore": "a.yaml\r\nb.yaml\r\n", "a.yaml": "", "b.yaml": "", "c.yaml": ""}, Request{}, []string{"c.yaml"}},
		"a blank at the end can be meant":      {tree{".fleetignore": "a\\ \n", "a ": "", "a": "", "b.yaml": ""}, Request{}, []string{"a", "b.yaml"}},
		"ignoring does not change what is one": {tree{".fleetignore": "*\n", "a.yaml": ""}, Request{}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			made, err := tc.files.read(t, tc.q)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range made {
				got = resourceNames(m.Bundle)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBrokenIgnoreFile(t *testing.T) {
	_, err := tree{"a/.fleetignore": "ok\n[a\n", "a/x.yaml": ""}.read(t, Request{Paths: []string{"a"}})
	wantError(t, err, "a/.fleetignore:2:", `"[a"`)
}

func FuzzIgnore(f *testing.F) {
	for _, seed := range []string{"", "#\n", "a\\ \n", "[", "*/*\n", "/*", "a/*  \n", "\\", "**\r\n", strings.Repeat("*", 50) + "x"} {
		f.Add(seed, "a.yaml")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		rules, err := parseIgnore(text)
		if err != nil {
			return
		}
		for _, r := range rules {
			if strings.TrimSpace(r.pattern) == "" && !r.dirOnly {
				t.Errorf("pattern %q of %q", r.pattern, text)
			}
		}
		if ignored(rules, name, false) && !ignored(rules, name, true) {
			t.Errorf("%q is ignored as a file and not as a directory", name)
		}
	})
}

func TestEncoding(t *testing.T) {
	binary := "\xff\xfe\x00"
	b := tree{"a.yaml": "text", "b.bin": binary, "empty.yaml": ""}.one(t, Request{})
	want := []fleet.BundleResource{{Name: "a.yaml", Content: "text"}, {Name: "b.bin", Encoding: "base64+gz"}, {Name: "empty.yaml"}}
	got := b.DeepCopy().Spec.Resources
	got[1].Content = ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	compressed := tree{"a.yaml": "text", "b.bin": binary, "empty.yaml": ""}.one(t, Request{Compress: true})
	for _, r := range compressed.Spec.Resources {
		if r.Encoding != "base64+gz" {
			t.Errorf("%s is not compressed", r.Name)
		}
	}
	for _, b := range []*fleet.Bundle{b, compressed} {
		files, err := content.Files(b.Spec.Resources)
		if err != nil {
			t.Fatal(err)
		}
		want := []content.File{{Name: "a.yaml", Data: []byte("text")}, {Name: "b.bin", Data: []byte(binary)}, {Name: "empty.yaml", Data: []byte{}}}
		if diff := cmp.Diff(want, files); diff != "" {
			t.Error(diff)
		}
	}
}

func TestLargeBundlesAreCompressed(t *testing.T) {
	line := "0123456789\n"
	for count, want := range map[int]string{70_000: "", 90_000: "base64+gz"} {
		b := tree{"a.yaml": strings.Repeat(line, count)}.one(t, Request{})
		if got := b.Spec.Resources[0].Encoding; got != want {
			t.Errorf("%d lines are encoded as %q, want %q", count, got, want)
		}
	}
}

// noise cannot be compressed.
func noise(bytes int) string {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // noise, not a secret
	data := make([]byte, bytes)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return string(data)
}

func TestTooLargeBundles(t *testing.T) {
	values := "helm:\n  values:\n    password: \"" + strings.Repeat("p", MaxOptions-100) + "\"\ntargetCustomizations:\n- name: a\n  helm:\n    valuesFiles: [v.yaml]\n"
	tests := map[string]struct {
		files tree
		want  []string
	}{
		"files that do not fit": {
			tree{"a/small.yaml": manifest, "a/big.bin": noise(900_000), "a/bigger.bin": noise(1_000_000)},
			[]string{"a: too large", "1.3 MiB", "bigger.bin (1.3 MiB), big.bin (1.1 MiB), small.yaml", ".fleetignore"},
		},
		"files that the hub would not store": {
			tree{"a/x.yaml": manifest, "a/x.bin": noise(1_049_000)},
			[]string{"a: too large", "the hub stores 1.0 MiB", "x.bin (1.3 MiB)"},
		},
		"nothing, where all just fits": {
			tree{"a/x.yaml": manifest, "a/x.bin": noise(1_000_000)},
			nil,
		},
		"values that do not fit": {
			tree{"a/x.yaml": manifest, "a/fleet.yaml": values, "a/v.yaml": "x: " + strings.Repeat("v", 1000)},
			[]string{"a: too large", "values", "Secret takes 1.0 MiB"},
		},
		"a file that is too large to read": {tree{"a/x.yaml": manifest, "a/x.bin": strings.Repeat("x", MaxFile+1)}, []string{"a/x.bin", "16.0 MiB"}},
		"files that are too large together": {
			tree{"a/x.yaml": manifest, "a/1": strings.Repeat("x", MaxFile), "a/2": strings.Repeat("x", MaxFile), "a/3": "x"},
			[]string{"a: too large", "32.0 MiB", "1 (16.0 MiB)"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := tc.files.read(t, Request{Paths: []string{"a"}})
			if tc.want == nil {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantError(t, err, tc.want...)
			if !errors.Is(err, ErrTooLarge) || strings.Contains(err.Error(), "ppp") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestTooManyFiles(t *testing.T) {
	root := tree{"x.yaml": manifest}.write(t)
	for i := range MaxFiles {
		if err := os.WriteFile(filepath.Join(root, strings.Repeat("x", 5)+string(rune('a'+i%26))+string(rune('a'+i/26%26))+string(rune('a'+i/676))), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Read(t.Context(), Request{Root: root})
	wantError(t, err, "too large", "10000 files")
}
