package target

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// What Fleet does with the targets of a GitRepo, which are restrictions too, and with the
// targetCustomizations of a fleet.yaml before them. There are clusters one, two and three,
// each in a group of its name and in the group all; each has its name as label name.
func TestTargetsAndCustomizationsAsInFleet(t *testing.T) {
	cases := map[string]struct {
		mode fleet.TargetCustomizationMode
		// custom are targetCustomizations, targets those of the GitRepo.
		custom, targets string
		// alone leaves the restrictions out, as in a Bundle that somebody wrote.
		alone bool
		want  []string
	}{
		"all clusters, nothing customized":       {targets: `[{clusterGroup: all}]`, want: []string{"one", "three", "two"}},
		"fewer targets than restrictions before": {targets: `[{clusterName: one}]`, want: []string{"one"}},
		"a customization of all": {custom: `[{clusterGroup: all, helm: {values: {r: "3"}}}]`, targets: `[{clusterGroup: all, helm: {values: {r: "1"}}}]`,
			want: []string{"one r=3", "three r=3", "two r=3"}},
		"customizations of two of them": {custom: `[{clusterGroup: one, helm: {values: {r: "1"}}}, {clusterGroup: two, helm: {values: {r: "2"}}}]`,
			targets: `[{clusterGroup: all, helm: {values: {r: "4"}}}]`, want: []string{"one r=1", "three r=4", "two r=2"}},
		"one of one and one of all": {custom: `[{clusterGroup: one, helm: {values: {r: "1"}}}, {clusterGroup: all, helm: {values: {r: "4"}}}]`,
			targets: `[{clusterGroup: all, helm: {values: {r: "5"}}}]`, want: []string{"one r=1", "three r=4", "two r=4"}},
		"one of all where one is targeted": {custom: `[{clusterGroup: all, helm: {values: {r: "2"}}}]`, targets: `[{clusterGroup: one, helm: {values: {r: "1"}}}]`,
			want: []string{"one r=2"}},
		"a customization takes the place of the target's options": {custom: `[{clusterGroup: one, helm: {values: {r: "2"}}}]`,
			targets: `[{clusterGroup: all, namespace: a, helm: {values: {m: "1"}}}]`, want: []string{"one r=2", "three m=1 in a", "two m=1 in a"}},
		"without restrictions all are targets": {alone: true, custom: `[{clusterGroup: one, helm: {values: {r: "1"}}}]`, targets: `[{clusterGroup: all}]`,
			want: []string{"one r=1", "three", "two"}},
		"all of all say no":                   {custom: `[{clusterGroup: all, doNotDeploy: true}]`, targets: `[{clusterGroup: all}]`},
		"all say no where one is targeted":    {custom: `[{clusterGroup: all, doNotDeploy: true}]`, targets: `[{clusterGroup: one}]`},
		"another says no":                     {custom: `[{clusterGroup: two, doNotDeploy: true}]`, targets: `[{clusterGroup: one}]`, want: []string{"one"}},
		"one of several says no":              {custom: `[{clusterGroup: two, doNotDeploy: true}]`, targets: `[{clusterGroup: all}]`, want: []string{"one", "three"}},
		"the target says no":                  {custom: `[{clusterGroup: all, helm: {values: {r: "1"}}}]`, targets: `[{clusterGroup: one, doNotDeploy: true}, {clusterGroup: all}]`, want: []string{"three r=1", "two r=1"}},
		"a broad one before one that says no": {custom: `[{clusterSelector: {}, helm: {values: {r: "1"}}}, {clusterName: one, doNotDeploy: true}]`, targets: `[{clusterName: one}]`, want: []string{"one r=1"}},
		"a customization like the target":     {custom: `[{name: x, clusterSelector: {matchLabels: {name: one}}, helm: {values: {r: "1"}}}]`, targets: `[{name: x, clusterSelector: {matchLabels: {name: one}}}]`, want: []string{"one r=1"}},

		"all matches: two of one": {mode: "AllMatches", custom: `[{clusterGroup: one, helm: {values: {a: "1", r: "1"}}}, {clusterGroup: all, namespace: x, helm: {values: {r: "2"}}}]`,
			targets: `[{clusterGroup: all, helm: {values: {t: "0", r: "0"}}}]`, want: []string{"one a=1 r=2 t=0 in x", "three r=2 t=0 in x", "two r=2 t=0 in x"}},
		"all matches: one says no": {mode: "AllMatches", custom: `[{clusterGroup: all, helm: {values: {r: "1"}}}, {clusterGroup: one, doNotDeploy: true}]`,
			targets: `[{clusterGroup: all}]`, want: []string{"three r=1", "two r=1"}},
		"all matches: the first one says no": {mode: "AllMatches", custom: `[{clusterGroup: one, doNotDeploy: true}, {clusterGroup: all, helm: {values: {r: "1"}}}]`,
			targets: `[{clusterGroup: all}]`, want: []string{"three r=1", "two r=1"}},
		"all matches: none":                          {mode: "AllMatches", custom: `[{clusterName: no, helm: {values: {r: "1"}}}]`, targets: `[{clusterName: one}]`, want: []string{"one"}},
		"all matches: customizations select nothing": {mode: "AllMatches", custom: `[{clusterGroup: all, helm: {values: {r: "1"}}}]`, targets: `[{clusterName: one}]`, want: []string{"one r=1"}},
		"all matches: by one group several times":    {mode: "AllMatches", custom: `[{clusterGroupSelector: {}, helm: {values: {r: "1"}}}]`, targets: `[{clusterName: one}]`, want: []string{"one r=1"}},
		"all matches: a timeout that is taken away":  {mode: "AllMatches", custom: `[{clusterName: one, helm: {timeoutSeconds: -1}}]`, targets: `[{clusterName: one, helm: {timeoutSeconds: 5, values: {r: "1"}}}]`, want: []string{"one r=1"}},
		"all matches without restrictions is the first": {mode: "AllMatches", alone: true, custom: `[{clusterGroup: one, helm: {values: {r: "1"}}}]`,
			targets: `[{clusterGroup: all, helm: {values: {m: "1"}}}]`, want: []string{"one r=1", "three m=1", "two m=1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := bundle(append(targets(t, tc.custom), targets(t, tc.targets)...)...)
			b.Spec.TargetCustomizationMode = tc.mode
			for _, r := range targets(t, tc.targets) {
				if !tc.alone {
					b.Spec.TargetRestrictions = append(b.Spec.TargetRestrictions, fleet.BundleTargetRestriction{Name: r.Name,
						ClusterName: r.ClusterName, ClusterSelector: r.ClusterSelector, ClusterGroup: r.ClusterGroup, ClusterGroupSelector: r.ClusterGroupSelector})
				}
			}
			groups, clusters := numbered()
			matches, err := Select(b, groups, clusters)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range matches {
				got = append(got, m.Cluster+told(m.Options))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func targets(t *testing.T, text string) []fleet.BundleTarget {
	t.Helper()
	var out []fleet.BundleTarget
	if err := yaml.UnmarshalStrict([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func told(o fleet.BundleDeploymentOptions) string {
	out := ""
	if o.Helm != nil && o.Helm.Values != nil {
		for _, key := range []string{"a", "m", "r", "t"} {
			if v, ok := o.Helm.Values.Data[key]; ok {
				out += fmt.Sprintf(" %s=%v", key, v)
			}
		}
	}
	if o.Helm != nil && o.Helm.TimeoutSeconds != 0 {
		out += fmt.Sprintf(" %d s", o.Helm.TimeoutSeconds)
	}
	if o.TargetNamespace != "" {
		out += " in " + o.TargetNamespace
	}
	return out
}

func numbered() ([]Group, []Cluster) {
	groups := []Group{{ClusterGroup: fleet.ClusterGroup{ObjectMeta: metav1.ObjectMeta{Name: "all"}, Spec: fleet.ClusterGroupSpec{Selector: everything}}}}
	var clusters []Cluster
	for _, name := range []string{"one", "two", "three"} {
		labels := map[string]string{"name": name}
		clusters = append(clusters, Cluster{Name: name, Labels: labels})
		groups = append(groups, Group{ClusterGroup: fleet.ClusterGroup{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: fleet.ClusterGroupSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}}}})
	}
	return groups, clusters
}

// A GitRepo's restriction and the target have to mean the same group.
func TestRestrictionAndTargetMeanOneGroup(t *testing.T) {
	groups, clusters := numbered()
	for name, tc := range map[string]struct {
		target, restriction string
		want                int
	}{
		"the same group":              {`{clusterGroup: one}`, `{clusterGroup: one}`, 1},
		"two groups of the cluster":   {`{clusterGroup: one}`, `{clusterGroup: all}`, 0},
		"a group and a label":         {`{clusterGroup: one}`, `{clusterSelector: {matchLabels: {name: one}}}`, 1},
		"a label and a group":         {`{clusterName: one}`, `{clusterGroup: all}`, 1},
		"a group, and any":            {`{clusterGroup: one}`, `{clusterGroupSelector: {}}`, 1},
		"no group at all, twice":      {`{clusterGroupSelector: {matchExpressions: [{key: a, operator: DoesNotExist}]}}`, `{clusterGroupSelector: {}}`, 1},
		"another restriction does it": {`{clusterGroup: one}`, `{clusterName: two}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := bundle(targets(t, "["+tc.target+"]")...)
			var r fleet.BundleTargetRestriction
			if err := yaml.UnmarshalStrict([]byte(tc.restriction), &r); err != nil {
				t.Fatal(err)
			}
			b.Spec.TargetRestrictions = []fleet.BundleTargetRestriction{r}
			matches, err := Select(b, groups, clusters[:1])
			if err != nil || len(matches) != tc.want {
				t.Errorf("%d matches, %v; want %d", len(matches), err, tc.want)
			}
		})
	}
	b := bundle(fleet.BundleTarget{ClusterGroup: "one"})
	b.Spec.TargetRestrictions = []fleet.BundleTargetRestriction{{ClusterGroup: "all"}}
	e, err := Explain(b, groups, &clusters[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("would match, but no restriction allows the cluster by the same ClusterGroup", e.Steps[1].Sentence); diff != "" {
		t.Error(diff)
	}
}

// A group that another namespace lends holds those clusters only that both may use.
func TestSelectByALentGroup(t *testing.T) {
	groups, clusters := numbered()
	groups[0].Clusters = map[string]bool{"two": true}
	matches, err := Select(bundle(fleet.BundleTarget{Name: "x", ClusterGroup: "all"}), groups[:1], clusters)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"two=x"}, names(matches)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
