package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

const fleetYAML = `defaultNamespace: web
helm:
  values: {env: none, claim: '${ index .ClusterClaims "region" | default "nowhere" }', size: '${ get .ClusterValues "size" | default "small" }'}
targetCustomizations:
- name: dev
  clusterSelector: {matchLabels: {env: dev}}
  helm: {values: {env: dev}}
- name: prod
  clusterSelector: {matchLabels: {env: prod}}
  helm: {values: {env: '${ .ClusterLabels.env }'}}
- name: edge
  clusterGroupSelector: {matchLabels: {kind: edge}}
- name: one
  clusterName: c1
`

// chartDir is a directory with a chart and a fleet.yaml, and an options file beside it.
func chartDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"web/Chart.yaml":         "apiVersion: v2\nname: web\nversion: 1.0.0\n",
		"web/templates/map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: '{{ .Release.Namespace }}'}\ndata: {env: '{{ .Values.env }}', claim: '{{ .Values.claim }}', size: '{{ .Values.size }}'}\n",
		"web/fleet.yaml":         fleetYAML,
		"web/other.yaml":         "defaultNamespace: other\nhelm: {values: {env: other, claim: x, size: y}}\n",
		"empty/.hidden":          "",
		"bundle.yaml":            "apiVersion: fleet.cattle.io/v1alpha1\nkind: Bundle\nmetadata: {name: b}\nspec:\n  defaultNamespace: there\n  resources:\n  - {name: a.yaml, content: \"apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: a}\\n\"}\n",
		"hashed.yaml":            "apiVersion: fleet.cattle.io/v1alpha1\nkind: Bundle\nmetadata: {name: b}\nspec: {valuesHash: abc}\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func webMap(env, claim, size string) string {
	return "---\napiVersion: v1\ndata:\n  claim: " + claim + "\n  env: " + env + "\n  size: " + size + "\nkind: ConfigMap\nmetadata:\n  name: web\n  namespace: web\n"
}

func TestTestCommand(t *testing.T) {
	t.Chdir(chartDir(t))
	t.Setenv("KUBECONFIG", "none")
	const none = "# The cluster "
	for name, tc := range map[string]struct {
		args              []string
		status            int
		wantOut, wantSaid string
	}{
		"a label":                         {args: []string{"web", "-l", "env=dev"}, wantOut: webMap("dev", "nowhere", "small"), wantSaid: "# Matched: dev\n"},
		"a label in a template":           {args: []string{"web", "-l", "env=prod", "--claims", "region=eu", "--values", "{size: big}"}, wantOut: webMap("prod", "eu", "big"), wantSaid: "# Matched: prod\n"},
		"a name":                          {args: []string{"web", "-N", "c1"}, wantOut: webMap("none", "nowhere", "small"), wantSaid: "# Matched: one\n"},
		"a label of the group":            {args: []string{"web", "-L", "kind=edge"}, wantOut: webMap("none", "nowhere", "small"), wantSaid: "# Matched: edge\n"},
		"a target, whether it matches":    {args: []string{"web", "-t", "dev"}, wantOut: webMap("dev", "nowhere", "small"), wantSaid: "# Matched: dev\n"},
		"the target alone":                {args: []string{"web", "-l", "env=dev", "-q"}, wantSaid: "# Matched: dev\n"},
		"another file of options":         {args: []string{"web", "-f", "other.yaml", "-q"}, wantSaid: "# Matched: default\n"},
		"another file, as Fleet names it": {args: []string{"web", "-f", "web/other.yaml", "-q"}, wantSaid: "# Matched: default\n"},
		"a Bundle in a file": {
			args: []string{"-b", "bundle.yaml", "-o", "yaml"}, wantOut: "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n", wantSaid: "# Matched: default\n",
		},
		"no target":                      {args: []string{"web", "-l", "env=qa"}, status: 1, wantSaid: none},
		"another group than the default": {args: []string{"-b", "bundle.yaml", "-g", "others"}, status: 1, wantSaid: none},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, out, said := genericclioptions.NewTestIOStreams()
			err := run(t, streams, append([]string{"test"}, tc.args...)...)
			if got := ExitStatus(err); got != tc.status {
				t.Fatalf("exit status %d, want %d: %v", got, tc.status, err)
			}
			if diff := cmp.Diff(tc.wantOut, out.String()); diff != "" {
				t.Errorf("output (-want +got)\n%s", diff)
			}
			if !strings.HasPrefix(said.String(), tc.wantSaid) {
				t.Errorf("said %q, want %q", said, tc.wantSaid)
			}
			if tc.status == 1 && strings.Count(said.String(), "\n") < 2 {
				t.Errorf("it does not say of each target why: %q", said)
			}
		})
	}
}

// A bundle without targets matches no cluster that only has labels. On a hub a policy can
// bring it there all the same, and the answer says so.
func TestTestCommandWhereAPolicyDecides(t *testing.T) {
	t.Chdir(chartDir(t))
	const hint = "a RolloutPolicy says which clusters get it; -t default shows"
	for name, tc := range map[string]struct {
		args   []string
		status int
		want   bool
	}{
		"no targets":            {args: []string{"-b", "bundle.yaml", "-l", "env=qa"}, status: 1, want: true},
		"what the hint says":    {args: []string{"-b", "bundle.yaml", "-l", "env=qa", "-t", "default"}},
		"targets of the bundle": {args: []string{"web", "-l", "env=qa"}, status: 1},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, _, said := genericclioptions.NewTestIOStreams()
			err := run(t, streams, append([]string{"test"}, tc.args...)...)
			if got := ExitStatus(err); got != tc.status {
				t.Fatalf("exit status %d, want %d: %v", got, tc.status, err)
			}
			if strings.Contains(said.String(), hint) != tc.want {
				t.Errorf("said %q, want the hint: %v", said, tc.want)
			}
		})
	}
}

func TestTestCommandMistakes(t *testing.T) {
	dir := chartDir(t)
	t.Chdir(dir)
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"two directories":            {[]string{"a", "b"}, "fleetctl test wants at most one DIR and got 2"},
		"a directory and a file":     {[]string{"web", "-b", "bundle.yaml"}, "each says where the bundle is"},
		"a directory without bundle": {[]string{"empty"}, "directory empty becomes no bundle"},
		"no such directory":          {[]string{"nowhere"}, "nowhere"},
		"no such target":             {[]string{"web", "-t", "qa"}, `--target "qa": the bundle test-web has no such target; it has: dev, prod, edge, one`},
		"values that are none":       {[]string{"web", "--values", "[1]"}, "--values: "},
		"values in a Secret":         {[]string{"-b", "hashed.yaml"}, "(Bundle b): the values of the Bundle are in a Secret"},
		"no Bundle in the file":      {[]string{"-b", "web/Chart.yaml"}, "web/Chart.yaml: there is no Bundle in it"},
		"a label that is not there":  {[]string{"web", "-t", "prod"}, "target prod: helm.values.env: "},
		"no such format":             {[]string{"web", "-o", "xml"}, `--output "xml"`},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, _, _ := genericclioptions.NewTestIOStreams()
			err := run(t, streams, append([]string{"test"}, tc.args...)...)
			if ExitStatus(err) != 3 || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
