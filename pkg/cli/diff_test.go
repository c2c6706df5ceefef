package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/fleet-addon/pkg/cli/diff"
)

func TestDiffData(t *testing.T) {
	change := []diff.Change{{Verb: diff.Changed, Kind: "ConfigMap", Name: "a", Diff: "--- ConfigMap a\n+++ ConfigMap a\n@@ -1 +1 @@\n-x\n+y\n"}}
	many := make([]string, 12)
	for i := range many {
		many[i] = fmt.Sprintf("c%02d", i)
	}
	for name, tc := range map[string]struct {
		groups []diff.Group
		want   string
		status int
	}{
		"no cluster": {want: "No cluster has the bundle.\n"},
		"nothing changes": {groups: []diff.Group{{Clusters: many, From: "a/b", To: "a/b"}}, want: `
12 clusters: c00, c01, c02, c03, c04, c05, c06, c07, c08, c09, and 2 more
nothing changes
`},
		"something changes": {groups: []diff.Group{{Clusters: []string{"c1"}, From: "a/b", To: "a/b", Changes: change}}, status: 1, want: `
1 cluster: c1
objects: 1 changed, 0 added, 0 removed
--- ConfigMap a
+++ ConfigMap a
@@ -1 +1 @@
-x
+y
`},
		"a release moves, and one cannot be told": {
			groups: []diff.Group{{Clusters: []string{"c1"}, From: "a/b", To: "c/b"}, {Clusters: []string{"c2"}, Error: "no"}}, status: 3, want: `
1 cluster: c1
release a/b goes, and c/b comes
objects: 0 changed, 0 added, 0 removed

1 cluster: c2
cannot be told: no
`},
	} {
		t.Run(name, func(t *testing.T) {
			d := diffData{Bundle: "demo/hello", To: "a file", Groups: tc.groups}
			want := "Bundle demo/hello: what is deployed, against a file\n" + tc.want
			if diff := cmp.Diff(want, strings.Join(d.lines(), "\n")+"\n"); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got := ExitStatus(d.outcome()); got != tc.status {
				t.Errorf("exit status %d, want %d", got, tc.status)
			}
		})
	}
}

func TestDiffMistakes(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	for name, tc := range map[string]struct{ line, want string }{
		"no bundle":                  {"diff", "fleetctl diff wants BUNDLE and, if it is about one, CLUSTER, and got 0: see fleetctl diff --help"},
		"too much":                   {"diff a b c", "and got 3"},
		"two things to compare with": {"diff a -b f --to-revision 1", "--bundle-file and --to-revision: each says what to compare with"},
		"no such format":             {"diff a -o xml", `--output "xml": want json or yaml`},
		"no hub":                     {"diff a", "no hub: there is no kubeconfig"},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, _, _ := genericclioptions.NewTestIOStreams()
			err := run(t, streams, strings.Fields(tc.line)...)
			if ExitStatus(err) != 3 || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
