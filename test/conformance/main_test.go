package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	for name, test := range map[string]struct {
		command    string
		wantFailed bool
		wantOut    string
	}{
		"the same bundle": {
			command: "cat ../expected.yaml",
			wantOut: "ok    web\n0 intended differences\n1 passed, 0 failed\n",
		},
		"another bundle": {
			command: "sed s/hello/bye/ ../expected.yaml", wantFailed: true,
			wantOut: "FAIL  web\n    Bundle apps/web spec.namespace\n      Fleet: \"hello\"\n      ours:  \"bye\"\n0 intended differences\n0 passed, 1 failed\n",
		},
		"an error": {
			command: "echo a reason >&2; exit 3", wantFailed: true,
			wantOut: "FAIL  web\n    exit status exit\n      Fleet: 0\n      ours:  3, a reason\n0 intended differences\n0 passed, 1 failed\n",
		},
		"the case's arguments and commit, and nothing of who runs it": {
			command: `[ "$*" = "apply -o -" ] && [ -z "$KUBECONFIG" ] && [ -z "$(ls -A "$HOME")" ] && [ "$COMMIT" = 0000000 ] && cat ../expected.yaml`,
			wantOut: "ok    web\n0 intended differences\n1 passed, 0 failed\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", "/of/who/runs/it")
			var out bytes.Buffer
			failed, err := run(&out, script(t, test.command), data(t, "web"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if failed != test.wantFailed || out.String() != test.wantOut {
				t.Errorf("failed %v, want %v; printed\n%s\nwant\n%s", failed, test.wantFailed, out.String(), test.wantOut)
			}
		})
	}
}

func TestRunWantsIntendedDifferencesToBeThere(t *testing.T) {
	list := []intention{{Field: "spec.namespace", Reason: "ours is better"}}
	var out bytes.Buffer
	failed, err := run(&out, script(t, "sed s/hello/bye/ ../expected.yaml"), data(t, "web"), list)
	if err != nil || failed || !strings.Contains(out.String(), "1 intended differences\n1 passed, 0 failed\n") {
		t.Errorf("failed %v (%v), printed\n%s", failed, err, out.String())
	}
	out.Reset()
	failed, err = run(&out, script(t, "cat ../expected.yaml"), data(t, "web"), list)
	if err != nil || !failed || !strings.Contains(out.String(), "take it out of intended.go: any case, spec.namespace (ours is better)") {
		t.Errorf("failed %v (%v), printed\n%s", failed, err, out.String())
	}
}

func TestRunRefusesWrongFolders(t *testing.T) {
	misnamed := data(t, "web")
	write(t, filepath.Join(misnamed, "bundles", "web", "case.yaml"), "name: other\nargs: []\nexit: 0\n")
	for name, dir := range map[string]string{"without cases": t.TempDir(), "with a case of another name": misnamed} {
		t.Run(name, func(t *testing.T) {
			if _, err := run(&bytes.Buffer{}, script(t, "true"), dir, nil); err == nil || !strings.Contains(err.Error(), dir) {
				t.Errorf("error %v, want one that names %s", err, dir)
			}
		})
	}
}

// data is a folder with one case.
func data(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	c := filepath.Join(dir, "bundles", name)
	if err := os.MkdirAll(filepath.Join(c, "input"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(c, "case.yaml"), "name: "+name+"\nargs: [apply, -o, \"-\"]\nexit: 0\n")
	write(t, filepath.Join(c, "expected.yaml"), "apiVersion: fleet.cattle.io/v1alpha1\nkind: Bundle\nmetadata: {name: "+name+", namespace: apps}\nspec: {namespace: hello}\n")
	return dir
}

// script is a program that stands for fleetctl.
func script(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "fleetctl")
	write(t, file, "#!/bin/sh\n"+text+"\n")
	if err := os.Chmod(file, 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
