package bundle

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const manifest = "kind: ConfigMap\n"

func TestWhichDirectoriesBecomeBundles(t *testing.T) {
	tests := map[string]struct {
		files tree
		paths []string
		want  []string
	}{
		"a directory with YAML":                         {tree{"a.yaml": manifest}, nil, []string{"repo"}},
		"a directory with .yml":                         {tree{"a.yml": manifest}, nil, []string{"repo"}},
		"a directory with YAML below it":                {tree{"x/y/a.yaml": manifest}, nil, []string{"repo"}},
		"a chart":                                       {tree{"Chart.yaml": "name: x\n"}, nil, []string{"repo"}},
		"JSON alone is none":                            {tree{"a.json": "{}"}, nil, []string{}},
		"an empty directory is none":                    {tree{"x/README.md": "x"}, []string{"x"}, []string{}},
		"one with options and nothing else is none":     {tree{"fleet.yaml": "namespace: x\n"}, nil, []string{}},
		"options make the base one, JSON is enough":     {tree{"fleet.yaml": "", "a.json": "{}"}, nil, []string{"repo"}},
		"fleet.yml are options too":                     {tree{"a/fleet.yml": "", "a/x.txt": "x"}, nil, []string{"repo-a"}},
		"a sub directory with options, not the base":    {tree{"a/fleet.yaml": "", "a/x.yaml": manifest}, nil, []string{"repo-a"}},
		"YAML below options does not make the base one": {tree{"a/fleet.yaml": "", "a/b/x.yaml": manifest}, nil, []string{"repo-a"}},
		"YAML beside it does":                           {tree{"a/fleet.yaml": "", "a/x.yaml": manifest, "b/x.yaml": manifest}, nil, []string{"repo", "repo-a"}},
		"options within options":                        {tree{"a/fleet.yaml": "", "a/x.yaml": manifest, "a/b/fleet.yaml": "", "a/b/x.yaml": manifest}, nil, []string{"repo-a", "repo-a-b"}},
		".git is not looked into":                       {tree{".git/x/fleet.yaml": "", ".git/x/a.yaml": manifest, "README.md": "x"}, nil, []string{}},
		"a hidden directory with options is none":       {tree{".x/fleet.yaml": "", ".x/a.yaml": manifest}, nil, []string{}},
		"a hidden directory that a path names is one":   {tree{".x/a.yaml": manifest}, []string{".x"}, []string{"repo-x-" + digits("repo-.x", 8)}},
		"a glob of directories":                         {tree{"a/x.yaml": manifest, "b/x.yaml": manifest, "c.yaml": manifest}, []string{"*"}, []string{"repo-a", "repo-b"}},
		"a slash at the beginning is the root":          {tree{"a/x.yaml": manifest}, []string{"/a"}, []string{"repo-a"}},
		"a path that is not clean":                      {tree{"a/x.yaml": manifest}, []string{"./b/../a/"}, []string{"repo-a"}},
		"two paths to one directory":                    {tree{"a/x.yaml": manifest}, []string{"a", "*"}, []string{"repo-a"}},
		"a directory with a bracket in its name":        {tree{"a[b]/x.yaml": manifest}, []string{"a[b]"}, []string{"repo-a-b-" + digits("repo-a[b]", 8)}},
		"a symlink to a directory, if a path names it":  {tree{"a/x.yaml": manifest, "l": "-> a"}, []string{"l"}, []string{"repo-l"}},
		"a symlink is no second bundle":                 {tree{"a/fleet.yaml": "", "a/x.yaml": manifest, "l": "-> a"}, nil, []string{"repo-a"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			made, err := tc.files.read(t, Request{Paths: tc.paths})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, bundleNames(made)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheParentHasTheFilesOfSubDirectoriesToo(t *testing.T) {
	made, err := tree{"x.yaml": manifest, "a/fleet.yaml": "namespace: a\n", "a/y.yaml": manifest}.read(t, Request{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{".": {"a/fleet.yaml", "a/y.yaml", "x.yaml"}, "a": {"y.yaml"}}
	got := map[string][]string{}
	for _, m := range made {
		got[m.Dir] = resourceNames(m.Bundle)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDrivenScan(t *testing.T) {
	files := tree{
		"a/x.yaml": manifest, "a/dev.yaml": "namespace: dev\n", "a/env/prodEU.yaml": "namespace: prod\n",
		"a/sub/fleet.yaml": "", "a/sub/y.yaml": manifest, "b/z.yaml": manifest,
	}
	tests := map[string]struct {
		paths     []string
		separator string
		want      map[string]string // name: namespace
		wantError []string
	}{
		"a directory alone, and none below it":        {[]string{"b", "a"}, "", map[string]string{"repo-a": "", "repo-b": ""}, nil},
		"an options file becomes part of the name":    {[]string{"a:dev.yaml"}, "", map[string]string{"repo-a-dev": "dev"}, nil},
		"one directory with two options files":        {[]string{"a:dev.yaml", "a:env/prodEU.yaml"}, "", map[string]string{"repo-a-dev": "dev", "repo-a-env-prodeu-" + digits("repo-a-env-prodEU", 8): "prod"}, nil},
		"another separator":                           {[]string{"a|dev.yaml"}, "|", map[string]string{"repo-a-dev": "dev"}, nil},
		"no file behind the separator":                {[]string{"a:"}, "", map[string]string{"repo-a": ""}, nil},
		"two separators":                              {[]string{"a:b:c"}, "", nil, []string{`"a:b:c"`, "more than once"}},
		"no such directory":                           {[]string{"c"}, "", nil, []string{`"c"`, "no directory"}},
		"no such options file":                        {[]string{"a:c.yaml"}, "", nil, []string{"a/c.yaml", "does not exist", "options file"}},
		"a glob is no directory here":                 {[]string{"*"}, "", nil, []string{`"*"`, "no directory"}},
		"an options file in a directory of its own":   {[]string{"a:../b/z.yaml"}, "", nil, []string{"../b/z.yaml", "leads out"}},
		"an options file by its path on the computer": {[]string{"a:/etc/passwd"}, "", nil, []string{"/etc/passwd", "leads out"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			made, err := files.read(t, Request{Driven: true, DrivenSeparator: tc.separator, Paths: tc.paths})
			if tc.wantError != nil {
				wantError(t, err, tc.wantError...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, m := range made {
				got[m.Bundle.Name] = m.Bundle.Spec.TargetNamespace
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPathsThatSelectNothing(t *testing.T) {
	tests := map[string]struct {
		path string
		want []string
	}{
		"nothing there":             {"nowhere", []string{`path "nowhere"`, "no directory is there"}},
		"a glob of nothing":         {"x*", []string{`path "x*"`, "no directory is there"}},
		"a glob of files":           {"*.yaml", []string{`path "*.yaml"`, "no directory is there"}},
		"a file":                    {"a.yaml", []string{`path "a.yaml"`, "no directory is there"}},
		"a glob that is none":       {"[", []string{`path "["`, "no pattern"}},
		"out of the root":           {"..", []string{`path ".."`, "leads out"}},
		"out of the root, from far": {"a/../../b", []string{`"a/../../b"`, "leads out"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := tree{"a.yaml": manifest}.read(t, Request{Paths: []string{tc.path}})
			wantError(t, err, tc.want...)
		})
	}
}

func TestTwoDirectoriesOfOneName(t *testing.T) {
	_, err := tree{"a-b/x.yaml": manifest, "a/b/x.yaml": manifest}.read(t, Request{Paths: []string{"a-b", "a/b"}})
	wantError(t, err, `"a-b"`, `"a/b"`, `"repo-a-b"`, "fleet.yaml")
	_, err = tree{"a/fleet.yaml": "name: x\n", "a/x.yaml": manifest, "b/fleet.yaml": "name: x\n", "b/x.yaml": manifest}.read(t, Request{})
	wantError(t, err, `"a"`, `"b"`, `bundle "x"`)
	_, err = tree{"a/1.yaml": "name: x\n", "a/2.yaml": "name: x\n"}.read(t, Request{Driven: true, Paths: []string{"a:1.yaml", "a:2.yaml"}})
	wantError(t, err, `"a with 1.yaml"`, `"a with 2.yaml"`, `bundle "x"`)
}

func TestSeparator(t *testing.T) {
	for want, paths := range map[string][]string{":": {"a", "b/c.yaml"}, ",": {"a:b"}, "?": {"a:b|", "c,d"}} {
		if got, err := Separator(paths...); err != nil || got != want {
			t.Errorf("%q and error %v of %q, want %q", got, err, paths, want)
		}
	}
	_, err := Separator(separators)
	wantError(t, err, separators)
}

func TestTooDeep(t *testing.T) {
	_, err := tree{strings.Repeat("d/", MaxDepth+2) + "a.yaml": manifest}.read(t, Request{})
	wantError(t, err, "too large", "64 directories")
}
