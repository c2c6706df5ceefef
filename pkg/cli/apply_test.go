package cli

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/fleet-addon/pkg/values"
)

// shop is a directory that becomes two bundles.
var shop = map[string]string{
	"apps/web/fleet.yaml": "namespace: shop\nlabels: {tier: front}\nhelm: {values: {replicas: 1}}\n",
	"apps/web/web.yaml":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n",
	"apps/db/fleet.yaml":  "targetCustomizations: [{clusterSelector: {}}]\n",
	"apps/db/dev.yaml":    "defaultNamespace: dev\n",
	"apps/db/db.yaml":     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\n",
	"targets.yaml":        "targets: [{name: all, clusterSelector: {}}]\ntargetRestrictions: [{name: all, clusterSelector: {}}]\n",
}

const webBundle = `apiVersion: fleet.cattle.io/v1alpha1
kind: Bundle
metadata:
  labels:
    tier: front
  name: shop-apps-web
  namespace: fleet-local
spec:
  helm:
    values:
      replicas: 1
  namespace: shop
  resources:
  - content: |
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: web}
    name: web.yaml
  targets:
  - clusterGroup: default
    name: default
`

const dbBundle = `apiVersion: fleet.cattle.io/v1alpha1
kind: Bundle
metadata:
  name: shop-apps-db
  namespace: fleet-local
spec:
  resources:
  - content: |
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: db}
    name: db.yaml
  - content: |
      defaultNamespace: dev
    name: dev.yaml
  targets:
  - clusterSelector: {}
    name: target000
`

// sealed is the web bundle as it is on a hub, with the Secret of its values.
func sealed(data string) string {
	secret := map[string][]byte{values.BundleKey: []byte(data)}
	return strings.Replace(webBundle, "  helm:\n    values:\n      replicas: 1\n", "  valuesHash: "+values.Hash(secret)+"\n", 1) +
		"---\napiVersion: v1\nkind: Secret\nmetadata: {name: shop-apps-web, namespace: fleet-local}\nstringData: {values.yaml: '" + data + "'}\n"
}

// offline runs fleetctl in a directory with files, without any kubeconfig.
func offline(t *testing.T, files map[string]string, stdin string, args ...string) (out, errOut string, err error) {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("KUBECONFIG", filepath.Join(dir, "none"))
	t.Setenv("HOME", dir)
	streams, in, outBuffer, errBuffer := genericclioptions.NewTestIOStreams()
	in.WriteString(stdin)
	err = run(t, streams, args...)
	return outBuffer.String(), errBuffer.String(), err
}

// TestApplyPrints: what bundles come out without a cluster.
func TestApplyPrints(t *testing.T) {
	for name, tc := range map[string]struct {
		args  []string
		env   map[string]string
		stdin string
		want  string
	}{
		"a directory with two bundles": {args: []string{"shop", "apps"}, want: dbBundle + "---\n" + webBundle},
		"a glob":                       {args: []string{"shop", "apps/w*"}, want: webBundle},
		"the namespace of a flag": {
			args: []string{"-n", "team", "shop", "apps/web"}, env: map[string]string{"NAMESPACE": "other"},
			want: strings.Replace(webBundle, "fleet-local", "team", 1),
		},
		"the namespace of the environment": {
			args: []string{"shop", "apps/web"}, env: map[string]string{"NAMESPACE": "other"},
			want: strings.Replace(webBundle, "fleet-local", "other", 1),
		},
		"the commit of the environment": {
			args: []string{"shop", "apps/web"}, env: map[string]string{"COMMIT": "abc"},
			want: strings.Replace(webBundle, "    tier", "    fleet.cattle.io/commit: abc\n    tier", 1),
		},
		"labels, and that of the fleet.yaml wins": {
			args: []string{"-l", "a=b,tier=back", "shop", "apps/web"},
			want: strings.Replace(webBundle, "    tier", "    a: b\n    tier", 1),
		},
		"a targets file": {
			args: []string{"--targets-file", "targets.yaml", "shop", "apps/web"},
			want: strings.Replace(webBundle, "  targets:\n  - clusterGroup: default\n    name: default\n",
				"  targetRestrictions:\n  - clusterSelector: {}\n    name: all\n  targets:\n  - clusterSelector: {}\n    name: all\n", 1),
		},
		"what is set for all bundles": {
			args: []string{"--paused", "--keep-resources", "--delete-namespace", "--correct-drift", "--correct-drift-force", "-a", "deployer", "--sync-generation", "3", "shop", "apps/web"},
			want: strings.NewReplacer("spec:\n", "spec:\n  correctDrift:\n    enabled: true\n    force: true\n  deleteNamespace: true\n  forceSyncGeneration: 3\n",
				"  namespace: shop\n", "  keepResources: true\n  namespace: shop\n  paused: true\n",
				"  targets:\n", "  serviceAccount: deployer\n  targets:\n").Replace(webBundle),
		},
		"one namespace for everything": {
			args: []string{"--target-namespace", "one", "shop", "apps/web"},
			want: strings.NewReplacer("  namespace: shop\n", "  namespace: one\n", "    name: default\n", "    name: default\n    namespace: one\n").Replace(webBundle),
		},
		"an options file of each directory": {args: []string{"-f", "dev.yaml", "shop", "apps/db"}, want: devBundle},
		"an options file with the flag that Fleet takes it with": {
			args: []string{"-b", "dev.yaml", "shop", "apps/d*"}, want: devBundle,
		},
		"a driven scan":                      {args: []string{"--driven-scan", "shop", "apps/db:dev.yaml"}, want: devBundle},
		"a driven scan with a separator":     {args: []string{"--driven-scan", "--driven-scan-sep", "|", "shop", "apps/db|dev.yaml"}, want: devBundle},
		"a Bundle of the standard input":     {args: []string{"-b", "-"}, stdin: webBundle, want: webBundle},
		"a Bundle with the flag of Fleet":    {args: []string{"-f", "-", "shop"}, stdin: webBundle, want: webBundle},
		"a Bundle without a name":            {args: []string{"-b", "-", "shop/Apps"}, stdin: strings.Replace(webBundle, "  name: shop-apps-web\n", "", 1), want: strings.Replace(webBundle, "shop-apps-web", "shop-apps-5803f0af", 1)},
		"a Bundle for another namespace":     {args: []string{"-b", "-", "-n", "team"}, stdin: webBundle, want: strings.Replace(webBundle, "fleet-local", "team", 1)},
		"a Bundle in a namespace of its own": {args: []string{"-b", "-"}, stdin: strings.Replace(webBundle, "fleet-local", "team", 1), want: strings.Replace(webBundle, "fleet-local", "team", 1)},
		"several Bundles with labels":        {args: []string{"-b", "-", "-l", "tier=back"}, stdin: dbBundle + "---\n" + webBundle, want: strings.Replace(dbBundle, "  name: shop", "  labels:\n    tier: back\n  name: shop", 1) + "---\n" + webBundle},
		"a Bundle as it is on a hub": {
			args: []string{"-b", "-"},
			stdin: strings.Replace(webBundle, "  name: shop", "  uid: abc\n  resourceVersion: '5'\n  generation: 3\n  creationTimestamp: '2026-01-01T00:00:00Z'\n  finalizers: [x]\n  name: shop", 1) +
				"status: {observedGeneration: 3}\n",
			want: webBundle,
		},
		"a Bundle with its values in a Secret": {args: []string{"-b", "-"}, stdin: sealed("{\"replicas\":1}"), want: webBundle},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range tc.env {
				t.Setenv(key, value)
			}
			out, errOut, err := offline(t, shop, tc.stdin, append([]string{"apply", "-o", "-"}, tc.args...)...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if errOut != "" {
				t.Errorf("said %q", errOut)
			}
		})
	}
}

const devBundle = `apiVersion: fleet.cattle.io/v1alpha1
kind: Bundle
metadata:
  name: shop-apps-db-dev
  namespace: fleet-local
spec:
  defaultNamespace: dev
  resources:
  - content: |
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: db}
    name: db.yaml
  targets:
  - clusterGroup: default
    name: default
`

func with(files map[string]string, more ...string) map[string]string {
	out := maps.Clone(files)
	for i := 0; i < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

// TestApplyRefuses: every mistake is said with its place and what to do, and the exit
// status is 3.
func TestApplyRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		args  []string
		env   map[string]string
		stdin string
		want  []string
	}{
		"no name":                    {args: nil, want: []string{"wants NAME", "--help"}},
		"a path that is not there":   {args: []string{"shop", "none"}, want: []string{`path "none"`}},
		"a path that leads out":      {args: []string{"shop", "../x"}, want: []string{`path "../x"`, "leads out of the directory"}},
		"a path without a bundle":    {files: map[string]string{"docs/a.txt": "x"}, args: []string{"shop", "docs"}, want: []string{"no bundle in the paths docs", "nothing was written or deleted", "--allow-empty"}},
		"an unknown field":           {files: with(shop, "apps/web/fleet.yaml", "namespce: x\n"), args: []string{"shop", "apps/web"}, want: []string{"apps/web/fleet.yaml", "namespce"}},
		"a password without a user":  {args: []string{"--password-file", "targets.yaml", "shop"}, want: []string{"--username and --password-file"}},
		"a user without a password":  {args: []string{"--username", "me", "shop"}, want: []string{"--username and --password-file"}},
		"a password file not there":  {args: []string{"--username", "me", "--password-file", "none", "shop"}, want: []string{"--password-file: open none"}},
		"CAs that are none":          {args: []string{"--cacerts-file", "targets.yaml", "shop"}, want: []string{"CA"}},
		"a regex that is none":       {args: []string{"--helm-repo-url-regex", "(", "shop"}, want: []string{"helmRepoURLRegex"}},
		"credentials that are none":  {files: with(shop, "creds.yaml", "apps/web: {pasword: hunter2}\n"), args: []string{"--helm-credentials-by-path-file", "creds.yaml", "shop", "apps"}, want: []string{"--helm-credentials-by-path-file creds.yaml", `"apps/web"`}},
		"targets that are none":      {files: with(shop, "targets.yaml", "target: []\n"), args: []string{"--targets-file", "targets.yaml", "shop", "apps"}, want: []string{"targets.yaml", "target"}},
		"an options file not there":  {args: []string{"-f", "none.yaml", "shop", "apps/db"}, want: []string{"apps/db/none.yaml"}},
		"options and a driven scan":  {args: []string{"-f", "dev.yaml", "--driven-scan", "shop", "apps/db"}, want: []string{"--file goes not with --driven-scan"}},
		"both flags for files":       {args: []string{"-f", "a", "-b", "b", "shop"}, want: []string{"[bundle-file file]"}},
		"a Bundle file not there":    {args: []string{"-b", "none.yaml"}, want: []string{"open none.yaml"}},
		"a file that is no Bundle":   {args: []string{"-b", "targets.yaml"}, want: []string{"targets.yaml: there is no Bundle in it", "it has something without a kind"}},
		"an empty file":              {args: []string{"-b", "-"}, want: []string{"standard input: the file is empty"}},
		"a Bundle with a typo":       {args: []string{"-b", "-"}, stdin: strings.Replace(webBundle, "targets:", "tragets:", 1), want: []string{"standard input: document 1 (Bundle fleet-local/shop-apps-web): spec.tragets: there is no such field"}},
		"a Bundle twice":             {args: []string{"-b", "-"}, stdin: webBundle + "---\n" + webBundle, want: []string{"document 2", "it stands in standard input: document 1"}},
		"Bundles without names":      {args: []string{"-b", "-", "x"}, stdin: strings.Repeat(strings.Replace(webBundle, "  name: shop-apps-web\n", "", 1)+"---\n", 2), want: []string{"metadata.name: is missing"}},
		"a Bundle and a PATH":        {args: []string{"-b", "-", "x", "apps"}, stdin: webBundle, want: []string{`"apps": with the Bundles of a file no directory is read`}},
		"a Bundle and its pause":     {args: []string{"-b", "-", "--paused"}, stdin: webBundle, want: []string{"--paused is for bundles of directories"}},
		"a number that is none":      {args: []string{"shop", "apps"}, env: map[string]string{"FLEET_BUNDLE_CREATION_MAX_CONCURRENCY": "many"}, want: []string{"FLEET_BUNDLE_CREATION_MAX_CONCURRENCY", "want a number"}},
		"values that are not theirs": {args: []string{"-b", "-"}, stdin: strings.Replace(webBundle, "  namespace: shop\n", "  valuesHash: abc\n", 1) + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: shop-apps-web, namespace: fleet-local}\ndata: {values.yaml: e30=}\n", want: []string{"Secret shop-apps-web", "spec.valuesHash"}},
		"a file that cannot be":      {files: with(shop, "blocked", ""), args: []string{"-o", "blocked/x.yaml", "shop", "apps"}, want: []string{"--output", "blocked"}},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range tc.env {
				t.Setenv(key, value)
			}
			files := tc.files
			if files == nil {
				files = shop
			}
			out, _, err := offline(t, files, tc.stdin, append([]string{"apply", "-o", "-"}, tc.args...)...)
			if ExitStatus(err) != exitFailed {
				t.Fatalf("got %v and %q", err, out)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want %q in it", err, want)
				}
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("a secret is in %q", err)
			}
			if out != "" {
				t.Errorf("printed %q", out)
			}
		})
	}
}

// TestApplyWarns: what works all the same, and what is said of it.
func TestApplyWarns(t *testing.T) {
	files := with(shop, "apps/web/fleet.yaml", "namespce: x\n")
	out, errOut, err := offline(t, files, "", "apply", "-o", "-", "--lenient", "--oci-registry-secret", "x", "--imagescan-enabled", "shop", "apps/web")
	if err != nil || !strings.Contains(out, "name: shop-apps-web") {
		t.Fatalf("got %v and %q", err, out)
	}
	for _, want := range []string{"Warning: --oci-registry-secret has no effect", "Warning: --imagescan-enabled has no effect", "Warning: apps/web/fleet.yaml"} {
		if !strings.Contains(errOut, want) {
			t.Errorf("got %q, want %q in it", errOut, want)
		}
	}
}

// TestApplyWritesAFile: whole, for its owner only, and not if there is nothing to write.
func TestApplyWritesAFile(t *testing.T) {
	_, errOut, err := offline(t, shop, "", "apply", "-o", "out/bundle.yaml", "shop", "apps/web")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("out/bundle.yaml")
	if err != nil || string(data) != webBundle {
		t.Errorf("got %v and %s", err, data)
	}
	if info, err := os.Stat("out/bundle.yaml"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v and %v", err, info.Mode())
	}
	if want := "Bundle fleet-local/shop-apps-web written to out/bundle.yaml\n"; errOut != want {
		t.Errorf("said %q, want %q", errOut, want)
	}
	entries, err := os.ReadDir("out")
	if err != nil || len(entries) != 1 {
		t.Errorf("left %v and %v", entries, err)
	}
	out, _, err := offline(t, map[string]string{"docs/a.txt": "x"}, "", "apply", "-o", "-", "--allow-empty", "shop", "docs")
	if err != nil || out != "" {
		t.Errorf("of nothing, got %v and %q", err, out)
	}
}

// TestApplyNamesTheCommit of the repository that it runs in.
func TestApplyNamesTheCommit(t *testing.T) {
	if _, _, err := offline(t, shop, "", "apply", "-o", "-", "shop", "apps"); err != nil {
		t.Fatal(err)
	}
	repo, err := git.PlainInit(".", false)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repo.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	commit, err := tree.Commit("all", &git.CommitOptions{AllowEmptyCommits: true, Author: &object.Signature{Name: "me"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("apps")
	streams, _, out, _ := genericclioptions.NewTestIOStreams()
	if err := run(t, streams, "apply", "-o", "-", "shop", "web"); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if want := "    fleet.cattle.io/commit: " + commit.String(); !slices.Contains(lines, want) {
		t.Errorf("got %s, want %s in it", out, want)
	}
}

// TestApplyWithoutAHub says what is missing, and only once there is something to write.
func TestApplyWithoutAHub(t *testing.T) {
	_, _, err := offline(t, shop, "", "apply", "shop", "apps")
	if err == nil || !strings.Contains(err.Error(), "no hub: there is no kubeconfig") {
		t.Errorf("got %v", err)
	}
}
