package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

func policyFor(name string, labels map[string]string) *v1alpha1.RolloutPolicy {
	p := &v1alpha1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if labels != nil {
		p.Spec.BundleSelector = &metav1.LabelSelector{MatchLabels: labels}
	}
	return p
}

func bundleWith(name string, labels map[string]string) fleet.Bundle {
	return fleet.Bundle{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

func TestWhatAPolicyGoverns(t *testing.T) {
	web, named := map[string]string{"app": "web"}, map[string]string{"app": "web", v1alpha1.LabelRolloutPolicy: "p"}
	tests := map[string]struct {
		policies      []*v1alpha1.RolloutPolicy
		bundles       []fleet.Bundle
		want          []string
		wantConflicts int
	}{
		"those that its selector matches": {
			[]*v1alpha1.RolloutPolicy{policyFor("p", web)}, []fleet.Bundle{bundleWith("b", web), bundleWith("c", nil), bundleWith("a", web)}, []string{"a", "b"}, 0},
		"without a selector none": {
			[]*v1alpha1.RolloutPolicy{policyFor("p", nil)}, []fleet.Bundle{bundleWith("a", web)}, nil, 0},
		"an empty selector matches all": {
			[]*v1alpha1.RolloutPolicy{policyFor("p", map[string]string{})}, []fleet.Bundle{bundleWith("a", nil)}, []string{"a"}, 0},
		"one that names it, though another one selects it": {
			[]*v1alpha1.RolloutPolicy{policyFor("p", nil), policyFor("q", web)}, []fleet.Bundle{bundleWith("a", named)}, []string{"a"}, 0},
		"not one that names another": {
			[]*v1alpha1.RolloutPolicy{policyFor("p", web), policyFor("q", nil)},
			[]fleet.Bundle{bundleWith("a", map[string]string{"app": "web", v1alpha1.LabelRolloutPolicy: "q"})}, nil, 0},
		"not one that names a policy that does not exist": {
			[]*v1alpha1.RolloutPolicy{policyFor("p", web)},
			[]fleet.Bundle{bundleWith("a", map[string]string{"app": "web", v1alpha1.LabelRolloutPolicy: "gone"})}, nil, 0},
		"none that two select": {
			[]*v1alpha1.RolloutPolicy{policyFor("q", web), policyFor("p", web)}, []fleet.Bundle{bundleWith("a", web)}, nil, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := reignOf("p", tt.policies, tt.bundles)
			if diff := cmp.Diff(tt.want, got.bundles); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(got.conflicts) != tt.wantConflicts {
				t.Errorf("conflicts %v, want %d", got.conflicts, tt.wantConflicts)
			}
			c := got.exclusive()
			if (c.Status == metav1.ConditionTrue) != (tt.wantConflicts == 0) {
				t.Errorf("Exclusive is %s: %s", c.Status, c.Message)
			}
			if tt.wantConflicts > 0 && !strings.HasPrefix(c.Message, "Bundle a is selected by the RolloutPolicies p and q: ") {
				t.Errorf("it says %q", c.Message)
			}
		})
	}
}

func TestTheListOfBundlesIsBounded(t *testing.T) {
	var bundles []fleet.Bundle
	for i := range 250 {
		bundles = append(bundles, bundleWith(fmt.Sprintf("b%03d", i), nil))
	}
	var s v1alpha1.RolloutPolicyStatus
	reignOf("p", []*v1alpha1.RolloutPolicy{policyFor("p", map[string]string{})}, bundles).tell(&s)
	if len(s.Bundles) != maxBundles || s.BundleCount != 250 || s.Bundles[99] != "b099" {
		t.Errorf("%d listed of %d", len(s.Bundles), s.BundleCount)
	}
	c := reignOf("p", []*v1alpha1.RolloutPolicy{policyFor("p", map[string]string{}), policyFor("q", map[string]string{})}, bundles).exclusive()
	if strings.Count(c.Message, "Bundle ") != maxConflicts || !strings.Contains(c.Message, "and 245 more") {
		t.Errorf("the conflicts are told as %q", c.Message)
	}
}

func TestMissingGroups(t *testing.T) {
	groups := []clusterv1beta1.DecisionGroupStatus{{DecisionGroupName: "canary", DecisionGroupIndex: 0}, {DecisionGroupIndex: 1}}
	perGroup := func(m ...v1alpha1.MandatoryDecisionGroup) v1alpha1.RolloutStrategy {
		return v1alpha1.RolloutStrategy{Type: v1alpha1.StrategyProgressivePerGroup,
			ProgressivePerGroup: &v1alpha1.RolloutProgressivePerGroup{MandatoryDecisionGroups: m}}
	}
	tests := map[string]struct {
		strategy v1alpha1.RolloutStrategy
		groups   []clusterv1beta1.DecisionGroupStatus
		want     []string
	}{
		"there by name and by index": {perGroup(v1alpha1.MandatoryDecisionGroup{GroupName: "canary"}, v1alpha1.MandatoryDecisionGroup{GroupIndex: 1}), groups, nil},
		"missing by name": {perGroup(v1alpha1.MandatoryDecisionGroup{GroupName: "canary"}, v1alpha1.MandatoryDecisionGroup{GroupName: "dev"}), groups,
			[]string{"s.progressivePerGroup.mandatoryDecisionGroups[1]: Placement team/stages decides no clusters for group dev"}},
		"missing by index": {v1alpha1.RolloutStrategy{Type: v1alpha1.StrategyProgressive, Progressive: &v1alpha1.RolloutProgressive{
			MandatoryDecisionGroups: []v1alpha1.MandatoryDecisionGroup{{GroupIndex: 2}}}}, groups,
			[]string{"s.progressive.mandatoryDecisionGroups[0]: Placement team/stages decides no clusters for group with index 2"}},
		"a Placement that has decided nothing yet": {perGroup(v1alpha1.MandatoryDecisionGroup{GroupName: "dev"}), nil, nil},
		"no strategy": {v1alpha1.RolloutStrategy{}, groups, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "stages"}}
			placement.Status.DecisionGroups = tt.groups
			if diff := cmp.Diff(tt.want, missingGroups(&tt.strategy, placement, field.NewPath("s"))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
