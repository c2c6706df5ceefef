package simulate

import (
	"strings"
	"testing"
)

const (
	bundleWeb = `
apiVersion: fleet.cattle.io/v1alpha1
kind: Bundle
metadata: {name: web, namespace: app}
spec: {targets: [{clusterSelector: {}}]}
`
	scriptOne = `
apiVersion: fleet.open-cluster-management.io/v1alpha1
kind: Simulation
spec: {clusters: [{name: a}]}
`
)

func script1(spec string) string {
	return "apiVersion: fleet.open-cluster-management.io/v1alpha1\nkind: Simulation\nmetadata: {name: s}\nspec: " + spec + "\n"
}

func placementOf(spec string) string {
	return "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nmetadata: {name: p, namespace: app}\nspec: " + spec + "\n"
}

func policyOf(ref string) string {
	return "apiVersion: fleet.open-cluster-management.io/v1alpha1\nkind: RolloutPolicy\nmetadata: {name: r, namespace: app}\nspec: {bundleSelector: {}, placementRefs: [" + ref + "]}\n"
}

// TestErrors: whatever is wrong in a file is said with file, document and field.
func TestErrors(t *testing.T) {
	cases := map[string]struct {
		files []string
		want  []string
	}{
		"a field that does not exist": {
			[]string{bundleWeb, script1("{clusters: [{name: a, lables: {x: one}}]}")},
			[]string{"b.yaml: document 1 (Simulation s): spec.clusters[0].lables: there is no such field"},
		},
		"a field of the wrong case": {
			[]string{bundleWeb, script1("{clusters: [{name: a, Labels: {x: one}}]}")},
			[]string{"b.yaml: document 1 (Simulation s): spec.clusters[0].Labels: there is no such field"},
		},
		"a field of the wrong type": {
			[]string{bundleWeb, script1("{clusters: 5}")},
			[]string{"b.yaml: document 1 (Simulation s): spec.clusters: a number does not fit here, a list is wanted"},
		},
		"a duration inside a policy": {
			[]string{bundleWeb, scriptOne, policyOf("{name: p, rolloutStrategy: {type: ProgressivePerGroup, progressivePerGroup: {minSuccessTime: soon}}}")},
			[]string{`c.yaml: document 1 (RolloutPolicy app/r): spec.placementRefs[0].rolloutStrategy.progressivePerGroup.minSuccessTime: time: invalid duration "soon"`},
		},
		"a policy that the hub refuses": {
			[]string{bundleWeb, scriptOne, placementOf("{}"), policyOf("{name: p, rolloutStrategy: {type: ProgressivePerGroup, progressivePerGroup: {maxFailures: -1}}}")},
			[]string{"d.yaml: document 1 (RolloutPolicy app/r): spec.placementRefs[0].rolloutStrategy.progressivePerGroup.maxFailures: Invalid value: -1"},
		},
		"the second document of a file": {
			[]string{bundleWeb + "---\n" + script1("{clusters: [{name: a}], revisions: [{at: soon, name: v1}]}")},
			[]string{`a.yaml: document 2 (Simulation s): spec.revisions[0].at: Invalid value: "soon": must be a duration such as 90s, 30m or 1h30m`},
		},
		"a key that stands twice": {
			[]string{"kind: Bundle\nkind: Bundle\n"},
			[]string{"a.yaml: document 1: ", `key "kind" already set`},
		},
		"an unknown kind": {
			[]string{"apiVersion: apps/v1\nkind: Deployment\n"},
			[]string{`a.yaml: document 1: kind: "Deployment" of apiVersion "apps/v1" cannot be simulated; known are Bundle (fleet.cattle.io/v1alpha1)`},
		},
		"an item of a list": {
			[]string{"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: cluster.open-cluster-management.io/v1, kind: ManagedCluster, metadata: {name: a}, spec: {hubAccepts: true}}\n"},
			[]string{"a.yaml: document 1: items[0] (ManagedCluster a): spec.hubAccepts: there is no such field"},
		},
		"several mistakes in one script": {
			[]string{bundleWeb, script1("{clusters: [{name: a, count: 2, namePrefix: b}, {namePrefix: c}, {name: X}], outcomes: [{result: Maybe, share: 5}, {result: NeverReady, after: 5s}, {result: Fails, retryFor: 5s}], offline: [{from: 5m, to: 4m}], joins: [{clusters: [{name: j}]}], relabels: [{at: 5m}], maxDuration: 0s}")},
			[]string{"spec.outcomes[0].share: a number does not fit here, text is wanted"},
		},
		"several values that do not fit": {
			[]string{bundleWeb, script1("{clusters: [{name: a, count: 2, namePrefix: b}, {namePrefix: c}, {name: X}], outcomes: [{result: Maybe, share: '5'}, {result: NeverReady, after: 5s}, {result: Fails, retryFor: 5s}], offline: [{from: 5m, to: 4m}], joins: [{clusters: [{name: j}]}], relabels: [{at: 5m}], maxDuration: 0s}")},
			[]string{
				"spec.clusters[0].namePrefix: Forbidden", "spec.clusters[1].count: Invalid value: 0", `spec.clusters[2].name: Invalid value: "X"`,
				`spec.outcomes[0].result: Unsupported value: "Maybe"`, `spec.outcomes[0].share: Invalid value: "5": must be a percentage`,
				"spec.outcomes[1].after: Forbidden", "spec.outcomes[2].retryFor: Forbidden", `spec.offline[0].to: Invalid value: "4m": must be after from`,
				"spec.joins[0].at: Required", "spec.relabels[0].labels: Required", `spec.maxDuration: Invalid value: "0s": must be more than 0s`,
			},
		},
		"a cluster that is nowhere": {
			[]string{bundleWeb, script1("{clusters: [{name: a}], outcomes: [{clusters: [b]}]}")},
			[]string{"b.yaml: document 1 (Simulation s): spec.outcomes[0].clusters: there is no cluster b in the files"},
		},
		"a cluster that stands twice": {
			[]string{bundleWeb, scriptOne, script1("{clusters: [{name: a}]}")},
			[]string{"cluster a stands twice in the files"},
		},
		"what can be said once is said twice": {
			[]string{bundleWeb, script1("{installed: v1, clusters: [{name: a}]}"), script1("{installed: v2}")},
			[]string{"c.yaml: document 1 (Simulation s): spec.installed: stands in another Simulation too"},
		},
		"a selector of CEL": {
			[]string{bundleWeb, scriptOne, placementOf("{predicates: [{requiredClusterSelector: {celSelector: {celExpressions: ['true']}}}]}")},
			[]string{"c.yaml: document 1 (Placement app/p): spec.predicates[0].requiredClusterSelector.celSelector: Forbidden: cannot be simulated"},
		},
		"a toleration for a while": {
			[]string{bundleWeb, scriptOne, placementOf("{tolerations: [{operator: Exists, tolerationSeconds: 5}]}")},
			[]string{"c.yaml: document 1 (Placement app/p): spec.tolerations[0].tolerationSeconds: Forbidden"},
		},
		"a Placement that is in no file": {
			[]string{bundleWeb, scriptOne, policyOf("{name: p}")},
			[]string{"RolloutPolicy/r: Placement app/p is in none of the files"},
		},
		"no bundle":   {[]string{scriptOne}, []string{"no Bundle in the files"}},
		"no clusters": {[]string{bundleWeb}, []string{"no clusters: list them in spec.clusters of a Simulation"}},
		"two bundles": {[]string{bundleWeb, bundleWeb, scriptOne}, []string{"a.yaml: document 1 (Bundle app/web) and b.yaml: document 1 (Bundle app/web): name the Bundle"}},
		"a bundle that the hub refuses": {
			[]string{strings.Replace(bundleWeb, "spec: {", "spec: {dependsOn: [{name: base}], ", 1), scriptOne},
			[]string{"a.yaml: document 1 (Bundle app/web): spec.dependsOn: "},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, tc.files...)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("want %q in:\n%v", want, err)
				}
			}
		})
	}
}

// TestNotes: what has no effect here is said.
func TestNotes(t *testing.T) {
	r := play(t, Options{}, bundleWeb, scriptOne, placementOf("{clusterSets: [x], sortBy: Score}"),
		"apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\nmetadata: {name: x}\n")
	got := strings.Join(r.Notes, "\n")
	for _, want := range []string{
		"ManagedClusterSetBindings are not simulated", "(Placement app/p): not simulated: spec.clusterSets, spec.sortBy.", "(Placement app/p): has no part in this rollout",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in:\n%s", want, got)
		}
	}
}
