package rollout

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

func ocmPerGroup(change ...func(*clusterv1alpha1.RolloutProgressivePerGroup)) clusterv1alpha1.RolloutStrategy {
	g := &clusterv1alpha1.RolloutProgressivePerGroup{}
	for _, f := range change {
		f(g)
	}
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: g}
}

// ours is a strategy of OCM's type as a policy has it; the JSON is the same.
func ours(in clusterv1alpha1.RolloutStrategy) v1alpha1.RolloutStrategy {
	var out v1alpha1.RolloutStrategy
	text, err := json.Marshal(in)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(err)
	}
	if in.Progressive != nil && in.Progressive.MaxConcurrency == (intstr.IntOrString{}) {
		out.Progressive.MaxConcurrency = nil
	}
	return out
}

func policyOf(name string, refs ...v1alpha1.PlacementRef) *v1alpha1.RolloutPolicy {
	return &v1alpha1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: name}, Spec: v1alpha1.RolloutPolicySpec{PlacementRefs: refs}}
}

func TestValidatePolicy(t *testing.T) {
	type perGroup = clusterv1alpha1.RolloutProgressivePerGroup
	with := func(s clusterv1alpha1.RolloutStrategy) *v1alpha1.RolloutPolicy {
		return policyOf("p", v1alpha1.PlacementRef{Name: "a", RolloutStrategy: ours(s)})
	}
	failures := func(v intstr.IntOrString) *v1alpha1.RolloutPolicy {
		return with(ocmPerGroup(func(g *perGroup) { g.MaxFailures = v }))
	}
	deadline := func(v string) *v1alpha1.RolloutPolicy {
		return with(ocmPerGroup(func(g *perGroup) { g.ProgressDeadline = v }))
	}
	mandatory := func(v ...clusterv1alpha1.MandatoryDecisionGroup) *v1alpha1.RolloutPolicy {
		return with(ocmPerGroup(func(g *perGroup) { g.MandatoryDecisionGroups.MandatoryDecisionGroups = v }))
	}
	group := func(g ...v1alpha1.GroupSettings) *v1alpha1.RolloutPolicy {
		return policyOf("p", v1alpha1.PlacementRef{Name: "a", Groups: g})
	}
	number := func(n int32) *intstr.IntOrString { v := intstr.FromInt32(n); return &v }
	text := func(s string) *intstr.IntOrString { v := intstr.FromString(s); return &v }
	none, zero := "", "0s"
	queue := func(n intstr.IntOrString) *v1alpha1.RolloutPolicy {
		return with(clusterv1alpha1.RolloutStrategy{Type: "Progressive", Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: n}})
	}
	const ref, per = "spec.placementRefs[0]", "spec.placementRefs[0].rolloutStrategy.progressivePerGroup"
	tests := map[string]struct {
		policy *v1alpha1.RolloutPolicy
		want   []string
	}{
		"nothing but a name":          {policyOf("p", v1alpha1.PlacementRef{Name: "a"}), nil},
		"the CRD's default":           {with(clusterv1alpha1.RolloutStrategy{Type: "All"}), nil},
		"per group":                   {with(ocmPerGroup()), nil},
		"no Placement":                {policyOf("p"), []string{"spec.placementRefs"}},
		"a Placement without a name":  {policyOf("p", v1alpha1.PlacementRef{}), []string{ref + ".name"}},
		"a Placement twice":           {policyOf("p", v1alpha1.PlacementRef{Name: "a"}, v1alpha1.PlacementRef{Name: "a"}), []string{"spec.placementRefs[1].name"}},
		"an unknown type":             {with(clusterv1alpha1.RolloutStrategy{Type: "Canary"}), []string{ref + ".rolloutStrategy.type"}},
		"a type without its struct":   {with(clusterv1alpha1.RolloutStrategy{Type: "ProgressivePerGroup"}), []string{per}},
		"a type with another's":       {with(clusterv1alpha1.RolloutStrategy{Type: "All", ProgressivePerGroup: &perGroup{}}), []string{per}},
		"no type with a struct":       {with(clusterv1alpha1.RolloutStrategy{ProgressivePerGroup: &perGroup{}}), []string{per}},
		"Progressive":                 {with(clusterv1alpha1.RolloutStrategy{Type: "Progressive", Progressive: &clusterv1alpha1.RolloutProgressive{}}), nil},
		"S8: maxFailures over 100 %":  {failures(intstr.FromString("150%")), []string{per + ".maxFailures"}},
		"S9: maxFailures negative":    {failures(intstr.FromInt32(-1)), []string{per + ".maxFailures"}},
		"maxFailures negative %":      {failures(intstr.FromString("-1%")), []string{per + ".maxFailures"}},
		"S10: maxFailures NaN":        {failures(intstr.FromString("NaN%")), []string{per + ".maxFailures"}},
		"maxFailures a fraction":      {failures(intstr.FromString("2.5%")), []string{per + ".maxFailures"}},
		"maxFailures empty":           {failures(intstr.FromString("%")), []string{per + ".maxFailures"}},
		"S11: maxFailures a string":   {failures(intstr.FromString("2")), []string{per + ".maxFailures"}},
		"maxFailures 100 %":           {failures(intstr.FromString("100%")), nil},
		"maxFailures 0":               {failures(intstr.FromInt32(0)), nil},
		"deadline None":               {deadline("None"), nil},
		"deadline in parts":           {deadline("1h30m"), nil},
		"deadline zero":               {deadline("0s"), []string{per + ".progressDeadline"}},
		"deadline negative":           {deadline("-5m"), []string{per + ".progressDeadline"}},
		"deadline without a unit":     {deadline("5"), []string{per + ".progressDeadline"}},
		"deadline with a rest":        {deadline("5mfoo"), []string{per + ".progressDeadline"}},
		"a negative soak":             {with(ocmPerGroup(func(g *perGroup) { g.MinSuccessTime.Duration = -1 })), []string{per + ".minSuccessTime"}},
		"mandatory by name and index": {mandatory(clusterv1alpha1.MandatoryDecisionGroup{GroupName: "x"}, clusterv1alpha1.MandatoryDecisionGroup{GroupIndex: 1}), nil},
		"mandatory twice": {mandatory(clusterv1alpha1.MandatoryDecisionGroup{GroupName: "x"}, clusterv1alpha1.MandatoryDecisionGroup{GroupName: "x", GroupIndex: 2}),
			[]string{per + ".mandatoryDecisionGroups[1]"}},
		"mandatory negative":           {mandatory(clusterv1alpha1.MandatoryDecisionGroup{GroupIndex: -1}), []string{per + ".mandatoryDecisionGroups[0].groupIndex"}},
		"maxConcurrency":               {policyOf("p", v1alpha1.PlacementRef{Name: "a", MaxConcurrency: number(2)}), nil},
		"maxConcurrency 0":             {policyOf("p", v1alpha1.PlacementRef{Name: "a", MaxConcurrency: text("0%")}), []string{ref + ".maxConcurrency"}},
		"maxConcurrency 0 as a number": {policyOf("p", v1alpha1.PlacementRef{Name: "a", MaxConcurrency: number(0)}), []string{ref + ".maxConcurrency"}},
		"maxConcurrency a string":      {policyOf("p", v1alpha1.PlacementRef{Name: "a", MaxConcurrency: text("2")}), []string{ref + ".maxConcurrency"}},
		"a queue of two":               {queue(intstr.FromInt32(2)), nil},
		"a queue of a tenth":           {queue(intstr.FromString("10%")), nil},
		"a queue of nothing":           {queue(intstr.FromString("0%")), []string{ref + ".rolloutStrategy.progressive.maxConcurrency"}},
		"a queue below nothing":        {queue(intstr.FromInt32(-1)), []string{ref + ".rolloutStrategy.progressive.maxConcurrency"}},
		"a queue of more than all":     {queue(intstr.FromString("101%")), []string{ref + ".rolloutStrategy.progressive.maxConcurrency"}},
		"groups":                       {group(v1alpha1.GroupSettings{Name: "dev", ProgressDeadline: &none, MaxConcurrency: number(1)}), nil},
		"a group's deadline of zero":   {group(v1alpha1.GroupSettings{Name: "dev", ProgressDeadline: &zero}), []string{ref + ".groups[0].progressDeadline"}},
		"a group's maxConcurrency 0":   {group(v1alpha1.GroupSettings{Name: "dev", MaxConcurrency: number(0)}), []string{ref + ".groups[0].maxConcurrency"}},

		"every mistake at once": {group(
			v1alpha1.GroupSettings{Name: "dev", MinSuccessTime: &metav1.Duration{Duration: -1}, MaxFailures: text("2")},
			v1alpha1.GroupSettings{Name: "dev"}, v1alpha1.GroupSettings{}),
			[]string{ref + ".groups[0].maxFailures", ref + ".groups[0].minSuccessTime", ref + ".groups[1].name", ref + ".groups[2].name"}},
		"a bad selector": {&v1alpha1.RolloutPolicy{Spec: v1alpha1.RolloutPolicySpec{
			BundleSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "x", Operator: "Near"}}},
			PlacementRefs:  []v1alpha1.PlacementRef{{Name: "a"}},
		}}, []string{"spec.bundleSelector"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, err := range ValidatePolicy(tt.policy) {
				got = append(got, err.Field)
			}
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
		})
	}
}

func TestANumberInQuotesIsExplained(t *testing.T) {
	policy := policyOf("p", v1alpha1.PlacementRef{Name: "a", RolloutStrategy: ours(ocmPerGroup(func(g *clusterv1alpha1.RolloutProgressivePerGroup) {
		g.MaxFailures = intstr.FromString("2")
	}))})
	const want = `spec.placementRefs[0].rolloutStrategy.progressivePerGroup.maxFailures: Invalid value: "2": ` +
		`is text: write the number 2 without quotes, or the percentage "2%"`
	errs := ValidatePolicy(policy)
	if len(errs) != 1 || errs[0].Error() != want {
		t.Errorf("got %v, want %s", errs, want)
	}
}

func TestParseStrategy(t *testing.T) {
	in := ocmPerGroup(func(g *clusterv1alpha1.RolloutProgressivePerGroup) {
		g.MinSuccessTime.Duration, g.ProgressDeadline, g.MaxFailures = 20*time.Second, "1h30m", intstr.FromString("10%")
		g.MandatoryDecisionGroups.MandatoryDecisionGroups = []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary", GroupIndex: 3}, {GroupIndex: 2}}
	})
	got, errs := parseStrategy(&in, nil)
	want := Strategy{
		Type: ProgressivePerGroup, MinSuccessTime: 20 * time.Second, ProgressDeadline: 90 * time.Minute,
		MaxFailures: intstr.FromString("10%"), Mandatory: []MandatoryGroup{{Name: "canary"}, {Index: 2}},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 {
		t.Errorf("%v (-want +got):\n%s", errs, diff)
	}
}

// TestParseRef: what a policy says of one Placement beside OCM's strategy.
func TestParseRef(t *testing.T) {
	two, tenth, none := intstr.FromInt32(2), intstr.FromString("10%"), "None"
	soak, never := time.Hour, time.Duration(0)
	got, errs := parseRef(&v1alpha1.PlacementRef{
		Name: "a", MaxConcurrency: &two,
		RolloutStrategy: ours(clusterv1alpha1.RolloutStrategy{Type: "Progressive", Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: tenth}}),
		Groups: []v1alpha1.GroupSettings{
			{Name: "dev", MinSuccessTime: &metav1.Duration{Duration: soak}, MaxConcurrency: &tenth},
			{Name: "prod", ProgressDeadline: &none, MaxFailures: &two},
		},
	}, nil)
	want := Strategy{
		Type: Progressive, QueueConcurrency: &tenth, GroupConcurrency: &two,
		Groups: map[string]GroupTerms{"dev": {MinSuccessTime: &soak, MaxConcurrency: &tenth}, "prod": {ProgressDeadline: &never, MaxFailures: &two}},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 {
		t.Errorf("%v (-want +got):\n%s", errs, diff)
	}
}

func TestScaleUp(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "3": 3, "12": 12, "0%": 0, "1%": 1, "50%": 4, "99%": 7, "100%": 7} {
		if got := scaleUp(intstr.Parse(text), 7); got != want {
			t.Errorf("%s of 7 is %d, want %d", text, got, want)
		}
	}
}
