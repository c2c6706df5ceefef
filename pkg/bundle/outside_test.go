package bundle

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const secret = "TOP SECRET"

// TestNothingOutsideIsRead has a bundle in "b" below the root, a file beside it and one
// outside of the root, and each way to lead to them.
func TestNothingOutsideIsRead(t *testing.T) {
	outside := tree{"secret.yaml": secret, "d/fleet.yaml": secret, "d/Chart.yaml": secret}.write(t)
	tests := map[string]struct {
		files tree
		q     Request
		want  []string
	}{
		"a symlink to a file beside the bundle":          {tree{"b/l.yaml": "-> ../beside.yaml"}, Request{}, []string{"b/l.yaml", `"../beside.yaml"`}},
		"a symlink to a file outside of the root":        {tree{"b/l.yaml": "-> ../../" + filepath.Base(outside) + "/secret.yaml"}, Request{}, []string{"b/l.yaml"}},
		"a symlink with a whole path":                    {tree{"b/l.yaml": "-> " + outside + "/secret.yaml"}, Request{}, []string{"b/l.yaml", outside}},
		"a symlink to a directory beside the bundle":     {tree{"b/l": "-> ../d"}, Request{}, []string{"b/l", `"../d"`}},
		"a symlink to a directory outside":               {tree{"b/l": "-> " + outside}, Request{}, []string{"b/l", outside}},
		"a symlink to a symlink that leads out":          {tree{"b/l.yaml": "-> m.yaml", "b/m.yaml": "-> ../beside.yaml"}, Request{}, []string{"b/l.yaml"}},
		"a values file with dots":                        {tree{"b/fleet.yaml": "helm:\n  valuesFiles:\n  - ../beside.yaml\n"}, Request{}, []string{"b/fleet.yaml:3:5", "valuesFiles", "../beside.yaml"}},
		"a values file with dots in the middle":          {tree{"b/fleet.yaml": "helm:\n  valuesFiles: [x/../../beside.yaml]\n"}, Request{}, []string{"b/fleet.yaml:2:17"}},
		"a values file with a whole path":                {tree{"b/fleet.yaml": "helm:\n  valuesFiles: [" + outside + "/secret.yaml]\n"}, Request{}, []string{"b/fleet.yaml:2:17", outside}},
		"a values file that is a symlink":                {tree{"b/fleet.yaml": "helm:\n  valuesFiles: [v.yaml]\n", "b/v.yaml": "-> ../beside.yaml"}, Request{}, []string{"b/fleet.yaml:2:17", "b/v.yaml"}},
		"a values file behind a symlink":                 {tree{"b/fleet.yaml": "helm:\n  valuesFiles: [l/fleet.yaml]\n", "b/l": "-> ../d", "b/.fleetignore": "l\n"}, Request{}, []string{"b/fleet.yaml:2:17"}},
		"a values file of a customization":               {tree{"b/fleet.yaml": "targets:\n- name: x\ntargetCustomizations:\n- helm:\n    valuesFiles:\n    - ../beside.yaml\n"}, Request{}, []string{"b/fleet.yaml:6:7"}},
		"a fleet.yaml that is a symlink":                 {tree{"b/fleet.yaml": "-> ../beside.yaml"}, Request{}, []string{"b/fleet.yaml", `"../beside.yaml"`}},
		"an options file with dots":                      {tree{}, Request{Driven: true, Paths: []string{"b:../beside.yaml"}}, []string{"../beside.yaml"}},
		"an options file with a whole path":              {tree{}, Request{Driven: true, Paths: []string{"b:" + outside + "/secret.yaml"}}, []string{outside}},
		"an options file that is a symlink":              {tree{"b/o.yaml": "-> ../beside.yaml"}, Request{Driven: true, Paths: []string{"b:o.yaml"}}, []string{"b/o.yaml"}},
		"a .fleetignore that is a symlink":               {tree{"b/.fleetignore": "-> ../beside.yaml"}, Request{}, []string{"b/.fleetignore"}},
		"a chart outside of the root":                    {tree{"b/fleet.yaml": "helm:\n  chart: ../../" + filepath.Base(outside) + "/d\n"}, Request{}, []string{"b/fleet.yaml:2:10", "helm.chart"}},
		"a chart with a whole path":                      {tree{"b/fleet.yaml": "helm:\n  chart: " + outside + "/d\n"}, Request{}, []string{"b/fleet.yaml:2:10", outside}},
		"a chart behind a symlink":                       {tree{"b/fleet.yaml": "helm:\n  chart: ../l\n", "l": "-> " + outside + "/d"}, Request{}, []string{"b/fleet.yaml:2:10", `"` + outside}},
		"a chart beside with a symlink out of the chart": {tree{"b/fleet.yaml": "helm:\n  chart: ../c\n", "c/Chart.yaml": "name: c\n", "c/l": "-> ../beside.yaml"}, Request{}, []string{"c/l", `"../beside.yaml"`}},
		"a dependency outside of the root":               {tree{"b/Chart.yaml": "name: b\ndependencies:\n- name: d\n  repository: file://../../" + filepath.Base(outside) + "/d\n"}, Request{}, []string{"b/Chart.yaml", "file://../../"}},
		"a path that is a symlink out of the root":       {tree{"l": "-> " + outside}, Request{Paths: []string{"l"}}, []string{`"` + outside}},
		"a path with dots":                               {tree{}, Request{Paths: []string{"../" + filepath.Base(outside)}}, []string{"../"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.files["b/x.yaml"] = manifest
			tc.files["beside.yaml"] = secret
			tc.files["d/fleet.yaml"] = secret
			if tc.q.Paths == nil {
				tc.q.Paths = []string{"b"}
			}
			_, err := tc.files.read(t, tc.q)
			wantError(t, err, tc.want...)
			if !errors.Is(err, ErrOutside) {
				t.Errorf("error %v is not ErrOutside", err)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("error %v shows the file", err)
			}
		})
	}
}

func TestSymlinksInside(t *testing.T) {
	b := tree{
		"a/x.yaml": manifest, "l.yaml": "-> a/x.yaml", "m.yaml": "-> l.yaml", "d": "-> a",
		"a/up.yaml": "-> ../a/x.yaml", "gone.yaml": "-> nowhere", ".fleetignore": "gone.yaml\n",
	}.one(t, Request{})
	if diff := cmp.Diff([]string{"a/up.yaml", "a/x.yaml", "d/up.yaml", "d/x.yaml", "l.yaml", "m.yaml"}, resourceNames(b)); diff != "" {
		t.Error(diff)
	}
	for _, r := range b.Spec.Resources {
		if r.Content != manifest {
			t.Errorf("%s has %q", r.Name, r.Content)
		}
	}
}

func TestSymlinksThatLeadNowhere(t *testing.T) {
	tests := map[string]struct {
		files tree
		want  []string
	}{
		"to nothing":                  {tree{"l.yaml": "-> nowhere"}, []string{"l.yaml", `"nowhere"`, "nothing is"}},
		"to itself":                   {tree{"l.yaml": "-> l.yaml"}, []string{"l.yaml"}},
		"to the directory it is in":   {tree{"a/b/l": "-> ../../a", "a/x.yaml": manifest}, []string{"a directory that it is in"}},
		"to the bundle":               {tree{"a/l": "-> ..", "x.yaml": manifest}, []string{"a directory that it is in"}},
		"two directories in a circle": {tree{"a/l": "-> ../b", "b/l": "-> ../a", "x.yaml": manifest}, []string{"a directory that it is in"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.files["x.yaml"] = manifest
			_, err := tc.files.read(t, Request{})
			wantError(t, err, tc.want...)
		})
	}
}

// Seven directories with five links to the next one each: the file in the last one has
// nearly a hundred thousand paths.
func TestSymlinksThatMultiplyAreBounded(t *testing.T) {
	files := tree{"d7/x.yaml": manifest}
	for i := range 7 {
		for j := range 5 {
			files[fmt.Sprintf("d%d/l%d", i, j)] = fmt.Sprintf("-> ../d%d", i+1)
		}
	}
	_, err := files.read(t, Request{})
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v, want %v", err, ErrTooLarge)
	}
}

// A pipe that nobody writes to blocks whoever opens it to read.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	for name, file := range map[string]string{
		"as a resource":       "pipe.yaml",
		"as the options":      "fleet.yaml",
		"as a values file":    "v.yaml",
		"as the .fleetignore": ".fleetignore",
	} {
		t.Run(name, func(t *testing.T) {
			files := tree{"x.yaml": manifest}
			if file == "v.yaml" {
				files["fleet.yaml"] = "helm:\n  valuesFiles: [v.yaml]\n"
			}
			root := files.write(t)
			if err := syscall.Mkfifo(filepath.Join(root, file), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Read(t.Context(), Request{Root: root})
			wantError(t, err, file, "neither a file nor a directory")
		})
	}
	t.Run("a device behind a symlink", func(t *testing.T) {
		_, err := tree{"l.yaml": "-> /dev/zero"}.read(t, Request{})
		wantError(t, err, "l.yaml", "leads out")
	})
	t.Run("a socket", func(t *testing.T) {
		root := tree{"x.yaml": manifest}.write(t)
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(fd)
		t.Chdir(root)
		if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: "s.yaml"}); err != nil {
			t.Fatal(err)
		}
		_, err = Read(t.Context(), Request{Root: root})
		wantError(t, err, "s.yaml", "neither a file nor a directory")
	})
}
