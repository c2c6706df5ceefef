package target

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func cluster(name string, env string) Cluster {
	c := Cluster{Name: name}
	if env != "" {
		c.Labels = map[string]string{"env": env}
	}
	return c
}

func is(env string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"env": env}}
}

func clusterGroup(name, env string, labels map[string]string) Group {
	g := Group{ClusterGroup: fleet.ClusterGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: name, Labels: labels}}}
	if env != "" {
		g.Spec.Selector = is(env)
	}
	return g
}

func brokenGroup() Group {
	g := clusterGroup("bad", "", nil)
	g.Spec.Selector = broken
	return g
}

func bundle(targets ...fleet.BundleTarget) *fleet.Bundle {
	b := &fleet.Bundle{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web"}}
	b.Spec.Targets = targets
	b.Spec.Resources = []fleet.BundleResource{{Name: "a.yaml", Content: "kind: ConfigMap"}}
	return b
}

var (
	fleetClusters = []Cluster{cluster("prod", "prod"), cluster("stg", "stg"), cluster("bare", ""), cluster("dev", "dev")}
	everything    = &metav1.LabelSelector{}
	broken        = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "env", Operator: "Likes"}}}
)

func TestSelect(t *testing.T) {
	groups := []Group{
		clusterGroup("early", "dev", map[string]string{"stage": "1"}),
		clusterGroup("late", "prod", map[string]string{"stage": "2"}),
		clusterGroup("nobody", "", nil),
	}
	cases := map[string]struct {
		bundle  *fleet.Bundle
		groups  []Group
		want    []string
		wantErr string
	}{
		"a cluster by name":            {bundle: bundle(fleet.BundleTarget{ClusterName: "stg"}), want: []string{"stg=target000"}},
		"clusters by label":            {bundle: bundle(fleet.BundleTarget{Name: "d", ClusterSelector: is("dev")}), want: []string{"dev=d"}},
		"an empty selector is all":     {bundle: bundle(fleet.BundleTarget{Name: "x", ClusterSelector: everything}), want: []string{"bare=x", "dev=x", "prod=x", "stg=x"}},
		"no criterion matches nothing": {bundle: bundle(fleet.BundleTarget{Name: "x"})},
		"no target matches nothing":    {bundle: bundle()},
		"name and selector must both hold": {
			bundle: bundle(fleet.BundleTarget{ClusterName: "stg", ClusterSelector: is("dev")})},
		"a group by name": {
			bundle: bundle(fleet.BundleTarget{Name: "x", ClusterGroup: "early"}), groups: groups, want: []string{"dev=x"}},
		"a group that does not exist": {bundle: bundle(fleet.BundleTarget{ClusterGroup: "never"}), groups: groups},
		"a group without a selector has no clusters": {
			bundle: bundle(fleet.BundleTarget{ClusterGroup: "nobody"}), groups: groups},
		"groups by label": {
			bundle: bundle(fleet.BundleTarget{Name: "x", ClusterGroupSelector: &metav1.LabelSelector{
				MatchLabels: map[string]string{"stage": "2"}}}), groups: groups, want: []string{"prod=x"}},
		"group name and group labels must hold for the same group": {
			bundle: bundle(fleet.BundleTarget{ClusterGroup: "early", ClusterGroupSelector: &metav1.LabelSelector{
				MatchLabels: map[string]string{"stage": "2"}}}), groups: groups},
		"a group refined by a cluster selector": {
			bundle: bundle(fleet.BundleTarget{ClusterGroup: "early", ClusterSelector: is("prod")}), groups: groups},
		"an empty group selector matches clusters in no group too": {
			bundle: bundle(fleet.BundleTarget{Name: "x", ClusterGroupSelector: everything}), groups: groups,
			want: []string{"bare=x", "dev=x", "prod=x", "stg=x"}},
		"a group selector that misses a cluster's only group does not take it as group-less": {
			bundle: bundle(fleet.BundleTarget{Name: "x", ClusterGroupSelector: &metav1.LabelSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "stage", Operator: metav1.LabelSelectorOpDoesNotExist}}}}),
			groups: groups, want: []string{"bare=x", "stg=x"}},
		"the first target that matches is used": {
			bundle: bundle(fleet.BundleTarget{Name: "one", ClusterName: "dev"}, fleet.BundleTarget{Name: "two", ClusterSelector: everything}),
			want:   []string{"bare=two", "dev=one", "prod=two", "stg=two"}},
		"doNotDeploy takes a cluster out": {
			bundle: bundle(fleet.BundleTarget{ClusterName: "dev", DoNotDeploy: true}, fleet.BundleTarget{Name: "two", ClusterSelector: everything}),
			want:   []string{"bare=two", "prod=two", "stg=two"}},
		"doNotDeploy after a match changes nothing": {
			bundle: bundle(fleet.BundleTarget{Name: "one", ClusterName: "dev"}, fleet.BundleTarget{ClusterName: "dev", DoNotDeploy: true}),
			want:   []string{"dev=one"}},
		"a broken selector is named": {
			bundle:  bundle(fleet.BundleTarget{ClusterName: "dev"}, fleet.BundleTarget{ClusterSelector: broken}),
			wantErr: "bundle apps/web: spec.targets[1].clusterSelector: "},
		"a broken group that is referred to is named": {
			bundle:  bundle(fleet.BundleTarget{ClusterGroup: "bad"}),
			groups:  []Group{brokenGroup()},
			wantErr: "ClusterGroup apps/bad: spec.selector: "},
		"a broken group of others holds nothing": {
			bundle: bundle(fleet.BundleTarget{Name: "x", ClusterName: "dev"}),
			groups: []Group{brokenGroup()},
			want:   []string{"dev=x"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Select(tc.bundle, tc.groups, fleetClusters)
			checkError(t, err, tc.wantErr)
			if diff := cmp.Diff(tc.want, names(got)); diff != "" {
				t.Errorf("matches (-want +got):\n%s", diff)
			}
		})
	}
}

func names(matches []Match) []string {
	var out []string
	for _, m := range matches {
		out = append(out, m.Cluster+"="+m.Target)
	}
	return out
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Fatalf("unexpected error: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Fatalf("error %v, want one with %q", err, want)
	}
}

func TestSelectWithRestrictions(t *testing.T) {
	ns := func(n string) fleet.BundleDeploymentOptions { return fleet.BundleDeploymentOptions{TargetNamespace: n} }
	restrictTo := func(b *fleet.Bundle, envs ...string) *fleet.Bundle {
		for _, e := range envs {
			b.Spec.TargetRestrictions = append(b.Spec.TargetRestrictions, fleet.BundleTargetRestriction{ClusterSelector: is(e)})
		}
		return b
	}
	cases := map[string]struct {
		bundle *fleet.Bundle
		want   []string
	}{
		"customizations select nothing themselves": {
			bundle: restrictTo(bundle(fleet.BundleTarget{ClusterSelector: everything}, fleet.BundleTarget{ClusterSelector: is("dev")}), "dev"),
			want:   []string{"dev="}},
		"the first customization replaces the target's options": {
			bundle: restrictTo(bundle(
				fleet.BundleTarget{ClusterSelector: is("dev"), BundleDeploymentOptions: ns("custom")},
				fleet.BundleTarget{ClusterSelector: everything, BundleDeploymentOptions: ns("late")},
				fleet.BundleTarget{ClusterSelector: is("dev"), BundleDeploymentOptions: ns("plain")},
				fleet.BundleTarget{ClusterSelector: is("prod"), BundleDeploymentOptions: ns("plain")}), "dev", "prod"),
			want: []string{"dev=custom", "prod=late"}},
		"a customization can take a cluster out": {
			bundle: restrictTo(bundle(
				fleet.BundleTarget{ClusterSelector: is("dev"), DoNotDeploy: true},
				fleet.BundleTarget{ClusterSelector: is("dev")}, fleet.BundleTarget{ClusterSelector: is("prod")}), "dev", "prod"),
			want: []string{"prod="}},
		"a cluster outside the restrictions gets nothing": {
			bundle: restrictTo(bundle(fleet.BundleTarget{ClusterSelector: everything}), "prod"), want: []string{"prod="}},
		"more restrictions than targets": {
			bundle: restrictTo(bundle(fleet.BundleTarget{ClusterSelector: everything}), "prod", "dev"), want: []string{"dev=", "prod="}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			matches, err := Select(tc.bundle, nil, fleetClusters)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range matches {
				got = append(got, m.Cluster+"="+m.Options.TargetNamespace)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("cluster=namespace (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHasOwnTargets(t *testing.T) {
	byDefault := fleet.BundleTarget{Name: "default", ClusterGroup: "default"}
	there := []Group{clusterGroup("mine", "dev", nil), clusterGroup("default", "dev", nil)}
	cases := map[string]struct {
		targets  []fleet.BundleTarget
		restrict []fleet.BundleTargetRestriction
		groups   []Group
		want     bool
	}{
		"none":                          {},
		"none, with a default group":    {groups: there},
		"the implicit one":              {targets: []fleet.BundleTarget{byDefault}},
		"the implicit one, group there": {targets: []fleet.BundleTarget{byDefault}, groups: there, want: true},
		"implicit with restriction": {targets: []fleet.BundleTarget{byDefault},
			restrict: []fleet.BundleTargetRestriction{{Name: "default", ClusterGroup: "default"}}},
		"restricted elsewhere":     {restrict: []fleet.BundleTargetRestriction{{ClusterName: "dev"}}, want: true},
		"two":                      {targets: []fleet.BundleTarget{byDefault, byDefault}, want: true},
		"only another group there": {targets: []fleet.BundleTarget{byDefault}, groups: there[:1]},
		"another name":             {targets: []fleet.BundleTarget{{Name: "mine", ClusterGroup: "default"}}, want: true},
		"another group":            {targets: []fleet.BundleTarget{{Name: "default", ClusterGroup: "mine"}}, want: true},
		"a narrower one":           {targets: []fleet.BundleTarget{{Name: "default", ClusterGroup: "default", ClusterName: "dev"}}, want: true},
		"one that says no":         {targets: []fleet.BundleTarget{{Name: "default", ClusterGroup: "default", DoNotDeploy: true}}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := bundle(tc.targets...)
			b.Spec.TargetRestrictions = tc.restrict
			if got := HasOwnTargets(b, tc.groups); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestSelectAllTakesTheImplicitTargetsOptions(t *testing.T) {
	b := bundle(fleet.BundleTarget{Name: "default", ClusterGroup: "default",
		BundleDeploymentOptions: fleet.BundleDeploymentOptions{TargetNamespace: "there"}})
	b.Spec.DefaultNamespace = "base"
	got := SelectAll(b, fleetClusters[2:])
	options := fleet.BundleDeploymentOptions{DefaultNamespace: "base", TargetNamespace: "there"}
	want := []Match{{Cluster: "bare", Target: "default", Options: options}, {Cluster: "dev", Target: "default", Options: options}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Match{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func BenchmarkSelect10000Clusters(b *testing.B) {
	clusters := make([]Cluster, 10000)
	for i := range clusters {
		clusters[i] = cluster(fmt.Sprintf("c%05d", i), []string{"dev", "stg", "prod"}[i%3])
	}
	bn := bundle(fleet.BundleTarget{ClusterSelector: is("dev")}, fleet.BundleTarget{ClusterSelector: is("stg")},
		fleet.BundleTarget{ClusterGroup: "late"})
	groups := []Group{clusterGroup("late", "prod", nil)}
	for b.Loop() {
		if got, err := Select(bn, groups, clusters); err != nil || len(got) != len(clusters) {
			b.Fatal(len(got), err)
		}
	}
}
