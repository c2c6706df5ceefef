package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shopBundle goes to clusters of two environments with different values.
const shopBundle = `apiVersion: fleet.cattle.io/v1alpha1
kind: Bundle
metadata: {name: shop, namespace: team-a}
spec:
  resources: [{name: a.yaml, content: "{}"}]
  helm: {values: {size: 1, where: "global.fleet.clusterLabels.env"}}
  targets:
  - {name: prod, clusterSelector: {matchLabels: {env: prod}}, helm: {values: {size: 3}}}
  - {name: edge, clusterGroup: edge, helm: {values: {zone: "${ .ClusterValues.zone }", claim: "${ .ClusterClaims.id }"}}}
`

const fleetOfClusters = `apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: p1, labels: {env: prod}}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: e1, labels: {kind: edge}, annotations: {fleet.open-cluster-management.io/cluster-values: "{zone: north}"}}
status: {clusterClaims: [{name: id, value: abc}]}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: lab}
---
apiVersion: fleet.cattle.io/v1alpha1
kind: ClusterGroup
metadata: {name: edge, namespace: team-a}
spec: {selector: {matchLabels: {kind: edge}}}
---
apiVersion: addon.open-cluster-management.io/v1beta1
kind: AddOnDeploymentConfig
metadata: {name: vars, namespace: hub}
spec: {customizedVariables: [{name: zone, value: south}]}
`

// TestTarget: what clusters get, by the file of the clusters.
func TestTarget(t *testing.T) {
	files := map[string]string{"bundle.yaml": shopBundle, "clusters.yaml": fleetOfClusters}
	out, errOut, err := offline(t, files, "", "target", "-b", "bundle.yaml", "--clusters", "clusters.yaml", "-l")
	if err != nil {
		t.Fatal(err)
	}
	want := `- Bundle: team-a/shop
  Claims:
    id: abc
  Cluster: e1
  ClusterGroups:
  - edge
  Labels:
    kind: edge
  Target: edge
- Bundle: team-a/shop
  Cluster: p1
  Labels:
    env: prod
  Target: prod
`
	if diff := cmp.Diff(want, errOut); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var kinds []string
	for _, line := range strings.Split(out, "\n") {
		for _, key := range []string{"kind: ", "    fleet.open-cluster-management.io/cluster: ", "  namespace: "} {
			if strings.HasPrefix(line, key) {
				kinds = append(kinds, strings.TrimSpace(line))
			}
		}
	}
	of := func(cluster, kind string) []string {
		return []string{"kind: " + kind, "fleet.open-cluster-management.io/cluster: " + cluster, "namespace: open-cluster-management-agent-addon"}
	}
	wantKinds := []string{"kind: Content"}
	for _, cluster := range []string{"e1", "p1"} {
		wantKinds = append(append(wantKinds, of(cluster, "Secret")...), of(cluster, "BundleDeployment")...)
	}
	if diff := cmp.Diff(wantKinds, kinds); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestTargetIsDeployed: what is printed is what deploy takes, with the values of the
// cluster in it.
func TestTargetIsDeployed(t *testing.T) {
	bundle := strings.Replace(shopBundle, `{name: a.yaml, content: "{}"}`,
		`{name: Chart.yaml, content: "apiVersion: v2\nname: c\nversion: 1.0.0\n"}, {name: templates/cm.yaml, content: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata:\n{{ toYaml .Values | indent 2 }}\n"}`, 1)
	files := map[string]string{"bundle.yaml": bundle, "clusters.yaml": fleetOfClusters}
	out, _, err := offline(t, files, "", "target", "-b", "bundle.yaml", "--clusters", "clusters.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rendered, _, err := offline(t, map[string]string{"d.yaml": out}, "", "deploy", "-i", "d.yaml", "--dry-run", "--cluster", "e1")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"claim: abc", "size: 1", `where: ""`, "zone: north"} {
		if !strings.Contains(rendered, want) {
			t.Errorf("got %s, want %q in it", rendered, want)
		}
	}
}

// TestTargetSays: notes, warnings and errors, each with its place.
func TestTargetSays(t *testing.T) {
	files := map[string]string{"bundle.yaml": shopBundle, "clusters.yaml": fleetOfClusters, "empty.yaml": "", "text.yaml": "hello"}
	for name, tc := range map[string]struct {
		args  []string
		stdin string
		// notes stand on the standard error, out on the standard output.
		notes, out, err []string
	}{
		"no file":                  {args: []string{}, err: []string{`"bundle-file" not set`}},
		"a file that is not there": {args: []string{"-b", "none.yaml"}, err: []string{"open none.yaml"}},
		"a file that is no YAML":   {args: []string{"-b", "text.yaml"}, err: []string{"text.yaml: document 1", "a map of fields is wanted"}},
		"an empty file":            {args: []string{"-b", "empty.yaml"}, err: []string{"empty.yaml: the file is empty", "fleetctl apply -o FILE"}},
		"the stand-in": {
			args: []string{"-b", "-"}, stdin: webBundle,
			notes: []string{"one stand-in cluster `local`"}, out: []string{"fleet.open-cluster-management.io/cluster: local"},
		},
		"no cluster that matches": {
			args: []string{"-b", "bundle.yaml", "-l"}, notes: []string{"null\n", "No cluster matches bundle team-a/shop"}, out: []string{"kind: Content"},
		},
		"a bundle that leaves it to a policy": {
			args: []string{"-b", "-", "--clusters", "clusters.yaml"}, stdin: webBundle,
			notes: []string{"Bundle fleet-local/shop-apps-web has no targets of its own", "1 of the ClusterGroups in clusters.yaml are not in the bundle's namespace fleet-local"},
			out:   []string{"cluster: lab"},
		},
		"two bundles": {
			args: []string{"-b", "-", "--clusters", "clusters.yaml", "-n", "team-a"}, stdin: shopBundle + "---\n" + strings.Replace(shopBundle, "name: shop", "name: other", 1),
			out: []string{"\n  bundle: team-a/shop\n", "\n  bundle: team-a/other\n"},
		},
		"one cluster of all": {
			args: []string{"-b", "bundle.yaml", "--clusters", "clusters.yaml", "--cluster", "p1"}, out: []string{"cluster: p1"},
		},
		"a cluster that there is none of": {
			args: []string{"-b", "bundle.yaml", "--clusters", "clusters.yaml", "--cluster", "p2"}, err: []string{"--cluster p2", "there are: e1, lab, p1"},
		},
		"clusters that are none": {args: []string{"-b", "bundle.yaml", "--clusters", "bundle.yaml"}, err: []string{"bundle.yaml: there is no ManagedCluster in it"}},
		"a cluster with a typo": {
			args: []string{"-b", "bundle.yaml", "--clusters", "-"}, stdin: strings.Replace(fleetOfClusters, "labels:", "lables:", 1),
			err: []string{"standard input: document 1 (ManagedCluster p1): metadata.lables: there is no such field"},
		},
		"a cluster twice": {
			args: []string{"-b", "bundle.yaml", "--clusters", "-"}, stdin: fleetOfClusters + "---\n" + fleetOfClusters, err: []string{"stands twice"},
		},
		"everything from the standard input": {args: []string{"-b", "-", "--clusters", "-"}, err: []string{"only one of them"}},
		"a template that fails on one cluster": {
			args: []string{"-b", "bundle.yaml", "--clusters", "-"}, stdin: strings.Replace(fleetOfClusters, "status: {clusterClaims: [{name: id, value: abc}]}\n", "", 1),
			err: []string{"bundle team-a/shop: ", "cluster e1"}, out: []string{"cluster: p1"},
		},
		"values that are elsewhere": {
			args: []string{"-b", "-"}, stdin: strings.Replace(webBundle, "  namespace: shop\n", "  valuesHash: abc\n", 1), err: []string{"spec.valuesHash: the values are in the Secret fleet-local/shop-apps-web"},
		},
		"what the manager does not do yet": {
			args: []string{"-b", "-"}, stdin: strings.Replace(webBundle, "  namespace: shop\n", "  namespace: shop\n  serviceAccount: x\n", 1),
			notes: []string{"Warning: the manager would hold bundle fleet-local/shop-apps-web: spec.serviceAccount"}, out: []string{"serviceAccount: x"},
		},
		"a list": {args: []string{"-b", "bundle.yaml", "--clusters", "clusters.yaml", "-o", "json"}, out: []string{`"kind": "List"`}},
		"why and why not": {
			args: []string{"-b", "bundle.yaml", "--clusters", "clusters.yaml", "--explain"},
			out: []string{
				"Bundle team-a/shop, cluster e1: is deployed to", "Bundle team-a/shop, cluster lab: is not deployed to",
				"target prod (spec.targets[0]) does not match: clusterSelector asks for env=prod",
			},
		},
		"why, where a policy decides": {
			args: []string{"-b", "-", "--clusters", "clusters.yaml", "--explain"}, stdin: webBundle,
			notes: []string{"Bundle fleet-local/shop-apps-web has no targets of its own"},
			out:   []string{"Bundle fleet-local/shop-apps-web, cluster lab: is deployed to, if the RolloutPolicy selects it"},
		},
		"why and why not, for scripts": {
			args: []string{"-b", "bundle.yaml", "--clusters", "clusters.yaml", "--explain", "-o", "json"},
			out:  []string{`"cluster": "lab",` + "\n    " + `"deploys": false`, `"field": "spec.targets[0]"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, errOut, err := offline(t, files, tc.stdin, append([]string{"target"}, tc.args...)...)
			if (err != nil) != (tc.err != nil) || err != nil && ExitStatus(err) != exitFailed {
				t.Fatalf("got %v", err)
			}
			text := ""
			if err != nil {
				text = err.Error()
			}
			for got, wanted := range map[string][]string{out: tc.out, errOut: tc.notes, text: tc.err} {
				for _, want := range wanted {
					if !strings.Contains(got, want) {
						t.Errorf("got %q, want %q in it", got, want)
					}
				}
			}
		})
	}
}
