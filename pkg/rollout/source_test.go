package rollout

import (
	"slices"
	"strings"
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

func addOnWith(strategies ...clusterv1alpha1.RolloutStrategy) *addonv1beta1.ClusterManagementAddOn {
	a := &addonv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "fleet"}}
	a.Spec.InstallStrategy.Type = addonv1beta1.AddonInstallStrategyPlacements
	for i, s := range strategies {
		a.Spec.InstallStrategy.Placements = append(a.Spec.InstallStrategy.Placements, addonv1beta1.PlacementStrategy{
			PlacementRef: addonv1beta1.PlacementRef{Namespace: "ocm", Name: string(rune('a' + i))}, RolloutStrategy: s,
		})
	}
	return a
}

func selecting(p *v1alpha1.RolloutPolicy, key, value string) *v1alpha1.RolloutPolicy {
	p.Spec.BundleSelector = &metav1.LabelSelector{}
	if key != "" {
		p.Spec.BundleSelector.MatchLabels = map[string]string{key: value}
	}
	return p
}

func TestResolveSource(t *testing.T) {
	all := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}
	progressive := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{}}
	empty := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromString("0%")}}
	ref := v1alpha1.PlacementRef{Name: "place", RolloutStrategy: ours(ocmPerGroup())}
	paused := selecting(policyOf("p", ref), "", "")
	paused.Spec.Paused = true
	unclear := selecting(policyOf("a", ref), "", "")
	unclear.Spec.BundleSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "x", Operator: "Near"}}
	tests := map[string]struct {
		labels, namespace map[string]string
		policies          []*v1alpha1.RolloutPolicy
		unreadable        map[string]string
		addOn             *addonv1beta1.ClusterManagementAddOn
		want              string
		lanes             string
		hold              Reason
		says, paused      string
	}{
		"no add-on, as while it goes":     {want: "Default", hold: AddOnNotInstalled, says: "ClusterManagementAddOn fleet does not exist"},
		"an add-on without Placements":    {addOn: &addonv1beta1.ClusterManagementAddOn{}, want: "Default", lanes: "default()Partitions"},
		"an add-on with type All":         {addOn: addOnWith(all), want: "Default", lanes: "default()Partitions"},
		"a progressive add-on":            {addOn: addOnWith(all, ocmPerGroup()), want: "ClusterManagementAddOn/fleet", lanes: "ocm/a(ocm/a)All ocm/b(ocm/b)ProgressivePerGroup"},
		"an add-on with type Progressive": {addOn: addOnWith(progressive), want: "ClusterManagementAddOn/fleet", lanes: "ocm/a(ocm/a)Progressive"},
		"an add-on with a queue of 0%":    {addOn: addOnWith(empty), want: "ClusterManagementAddOn/fleet", hold: StrategyInvalid, says: "spec.installStrategy.placements[0].rolloutStrategy.progressive.maxConcurrency"},
		"an add-on without a struct":      {addOn: addOnWith(clusterv1alpha1.RolloutStrategy{Type: "ProgressivePerGroup"}), want: "ClusterManagementAddOn/fleet", hold: StrategyInvalid, says: "progressivePerGroup: Required"},
		"a policy that selects by label":  {labels: map[string]string{"team": "x"}, policies: []*v1alpha1.RolloutPolicy{selecting(policyOf("p", ref), "team", "x")}, addOn: addOnWith(ocmPerGroup()), want: "RolloutPolicy/p", lanes: "place(app/place)ProgressivePerGroup"},
		"a policy that selects others":    {labels: map[string]string{"team": "y"}, policies: []*v1alpha1.RolloutPolicy{selecting(policyOf("p", ref), "team", "x")}, addOn: addOnWith(all), want: "Default", lanes: "default()Partitions"},
		"an unset selector selects none":  {policies: []*v1alpha1.RolloutPolicy{policyOf("p", ref)}, addOn: addOnWith(all), want: "Default", lanes: "default()Partitions"},
		"an empty selector selects all":   {policies: []*v1alpha1.RolloutPolicy{selecting(policyOf("p", ref), "", "")}, want: "RolloutPolicy/p", lanes: "place(app/place)ProgressivePerGroup"},
		"two that select": {policies: []*v1alpha1.RolloutPolicy{selecting(policyOf("b", ref), "", ""), selecting(policyOf("a", ref), "", "")},
			want: "RolloutPolicy/a", hold: PolicyConflict, says: "among them a and b"},
		"the named one wins over two that select": {labels: map[string]string{v1alpha1.LabelRolloutPolicy: "c"},
			policies: []*v1alpha1.RolloutPolicy{selecting(policyOf("b", ref), "", ""), selecting(policyOf("a", ref), "", ""), policyOf("c", ref)},
			want:     "RolloutPolicy/c", lanes: "place(app/place)ProgressivePerGroup"},
		"the named one is missing": {labels: map[string]string{v1alpha1.LabelRolloutPolicy: "c"}, policies: []*v1alpha1.RolloutPolicy{selecting(policyOf("b", ref), "", "")},
			want: "RolloutPolicy/c", hold: PolicyMissing, says: "RolloutPolicy c"},
		"required and none": {namespace: map[string]string{v1alpha1.LabelRolloutPolicy: "required"}, want: "Default", hold: PolicyMissing, says: "requires a RolloutPolicy"},
		"required and there": {namespace: map[string]string{v1alpha1.LabelRolloutPolicy: "required"}, policies: []*v1alpha1.RolloutPolicy{selecting(policyOf("p", ref), "", "")},
			want: "RolloutPolicy/p", lanes: "place(app/place)ProgressivePerGroup"},
		"a paused policy": {policies: []*v1alpha1.RolloutPolicy{paused}, want: "RolloutPolicy/p", lanes: "place(app/place)ProgressivePerGroup", paused: "RolloutPolicy p"},
		"an invalid policy": {policies: []*v1alpha1.RolloutPolicy{selecting(policyOf("p", v1alpha1.PlacementRef{Name: "a", RolloutStrategy: ours(empty)}), "", "")},
			want: "RolloutPolicy/p", hold: StrategyInvalid, says: "spec.placementRefs[0].rolloutStrategy.progressive.maxConcurrency"},
		"a policy that cannot be read may mean this bundle": {policies: []*v1alpha1.RolloutPolicy{selecting(policyOf("b", ref), "", ""), policyOf("z", ref)}, unreadable: map[string]string{"z": "spec: no number"},
			want: "RolloutPolicy/z", hold: StrategyInvalid, says: "RolloutPolicy z cannot be read: spec: no number"},
		"the named one is read, another is not": {labels: map[string]string{v1alpha1.LabelRolloutPolicy: "b"}, policies: []*v1alpha1.RolloutPolicy{policyOf("b", ref), policyOf("z", ref)}, unreadable: map[string]string{"z": "spec: no number"},
			want: "RolloutPolicy/b", lanes: "place(app/place)ProgressivePerGroup"},
		"the named one is not read": {labels: map[string]string{v1alpha1.LabelRolloutPolicy: "z"}, policies: []*v1alpha1.RolloutPolicy{policyOf("b", ref), policyOf("z", ref)}, unreadable: map[string]string{"z": "spec: no number"},
			want: "RolloutPolicy/z", hold: StrategyInvalid, says: "cannot be read"},
		"a selector that cannot be read may mean this bundle": {policies: []*v1alpha1.RolloutPolicy{unclear}, want: "RolloutPolicy/a", hold: StrategyInvalid, says: "bundleSelector"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				s := ResolveSource(SourceInput{
					Bundle: &fleet.Bundle{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "web", Labels: tt.labels}}, NamespaceLabels: tt.namespace,
					Policies: tt.policies, Unreadable: tt.unreadable, AddOn: tt.addOn,
				})
				slices.Reverse(tt.policies)
				var lanes []string
				for _, l := range s.Lanes {
					lanes = append(lanes, l.Name+"("+l.Placement+")"+string(l.Strategy.Type))
				}
				hold := Hold{}
				if s.Hold != nil {
					hold = *s.Hold
				}
				if s.Name != tt.want || strings.Join(lanes, " ") != tt.lanes || hold.Reason != tt.hold || s.Paused != tt.paused {
					t.Errorf("%s %v %v %q; want %s %q %s", s.Name, lanes, hold, s.Paused, tt.want, tt.lanes, tt.hold)
				}
				if !strings.Contains(hold.Sentence, tt.says) {
					t.Errorf("sentence %q does not say %q", hold.Sentence, tt.says)
				}
			}
		})
	}
}

func TestImplicitTargets(t *testing.T) {
	policies := []*v1alpha1.RolloutPolicy{selecting(policyOf("p", v1alpha1.PlacementRef{Name: "a"}), "", "")}
	tests := map[string]struct {
		own          bool
		policies     []*v1alpha1.RolloutPolicy
		want, wantNo bool
	}{
		"none, with a policy": {false, policies, true, false},
		"none, without":       {false, nil, false, true},
		"own, with a policy":  {true, policies, false, false},
		"own, without":        {true, nil, false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := ResolveSource(SourceInput{Bundle: &fleet.Bundle{}, Policies: tt.policies, OwnTargets: tt.own})
			if s.ImplicitTargets != tt.want || s.NoTargets != tt.wantNo {
				t.Errorf("implicit %v, none %v", s.ImplicitTargets, s.NoTargets)
			}
		})
	}
}
