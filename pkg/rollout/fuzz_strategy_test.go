package rollout

import (
	"encoding/json"
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// FuzzParseStrategy reads a RolloutPolicy's spec, a strategy of OCM and one of Fleet, as
// JSON, in every place that a source takes them from. What is accepted has to make sense
// to the planner; what is not has to hold, and say why.
func FuzzParseStrategy(f *testing.F) {
	for _, policy := range []string{
		`{"placementRefs":[{"name":"a"}]}`,
		`{"bundleSelector":{},"paused":true,"placementRefs":[{"name":"a","maxConcurrency":"10%","groups":[{"name":"dev","minSuccessTime":"1h","progressDeadline":"None","maxFailures":1,"maxConcurrency":2}]}]}`,
		`{"placementRefs":[{"name":"a","rolloutStrategy":{"type":"ProgressivePerGroup","progressivePerGroup":{"mandatoryDecisionGroups":[{"groupName":"x"},{"groupIndex":2}]}}},{"name":"a"}]}`,
		`{"placementRefs":[{"name":"a","rolloutStrategy":{"type":"Progressive","progressive":{"maxConcurrency":0}}}]}`,
		`{"placementRefs":[{"name":"a","rolloutStrategy":{"type":"All","progressive":{"maxFailures":"NaN%","progressDeadline":"-5m"}}}]}`,
		`{"bundleSelector":{"matchExpressions":[{"key":"a b","operator":"Near"}]}}`,
	} {
		f.Add(policy, `{}`, `{}`)
	}
	for _, strategy := range []string{
		`{"type":"All"}`, `{"type":"Canary"}`, `{"type":"Progressive"}`,
		`{"type":"Progressive","progressive":{"maxConcurrency":"25%","maxFailures":"34%","minSuccessTime":"1h30m","progressDeadline":"600s"}}`,
		`{"type":"ProgressivePerGroup","progressivePerGroup":{"maxFailures":"2","progressDeadline":"5mfoo"}}`,
	} {
		f.Add(`{}`, strategy, `{}`)
	}
	for _, strategy := range []string{
		`{"maxUnavailable":"10%","maxNew":0,"autoPartitionSize":"30%","autoPartitionThreshold":50,"maxUnavailablePartitions":1}`,
		`{"partitions":[{"name":"a","clusterName":"x","maxUnavailable":"0%"},{"clusterGroup":"g"}]}`,
		`{"maxUnavailable":-1,"maxNew":-5,"autoPartitionSize":"-3%"}`,
	} {
		f.Add(`{}`, `{}`, strategy)
	}
	f.Fuzz(func(t *testing.T, policy, addOn, bundle string) {
		in := fuzzedSources(policy, addOn, bundle)
		for _, p := range in.Policies {
			s := policySource(p)
			if wrong := len(ValidatePolicy(p)) > 0; wrong != (s.Hold != nil) {
				t.Errorf("ValidatePolicy finds a mistake: %v; the source holds: %v", wrong, s.Hold)
			}
		}
		for _, own := range []bool{true, false} {
			in.OwnTargets = own
			checkSource(t, ResolveSource(in))
		}
		in.Policies = nil
		checkSource(t, ResolveSource(in))
	})
}

// fuzzedSources leaves out what is no JSON of its type.
func fuzzedSources(policy, addOn, bundle string) SourceInput {
	in := SourceInput{Bundle: &fleet.Bundle{}, AddOn: addOnWith()}
	in.Bundle.Name = "web"
	p := &v1alpha1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "p"}}
	if json.Unmarshal([]byte(policy), &p.Spec) == nil {
		in.Policies = append(in.Policies, p)
	}
	strategy := clusterv1alpha1.RolloutStrategy{}
	if json.Unmarshal([]byte(addOn), &strategy) == nil {
		in.AddOn = addOnWith(strategy)
		in.AddOn.Spec.InstallStrategy.Type = addonv1beta1.AddonInstallStrategyPlacements
	}
	partitions := &fleet.RolloutStrategy{}
	if json.Unmarshal([]byte(bundle), partitions) == nil {
		in.Bundle.Spec.RolloutStrategy = partitions
	}
	return in
}

// checkSource fails for a source that the planner could not work with.
func checkSource(t *testing.T, s Source) {
	t.Helper()
	if s.Name == "" {
		t.Error("the source has no name")
	}
	if s.Hold != nil {
		if s.Hold.Reason == "" || s.Hold.Sentence == "" {
			t.Errorf("held without a word: %+v", s.Hold)
		}
		if len(s.Lanes) > 0 {
			t.Errorf("held for %s and has lanes", s.Hold.Sentence)
		}
		return
	}
	if len(s.Lanes) == 0 && !s.NoTargets {
		t.Error("the source has no lanes")
	}
	names := map[string]bool{}
	for _, l := range s.Lanes {
		if l.Name == "" || names[l.Name] {
			t.Errorf("lane %q stands twice or has no name", l.Name)
		}
		names[l.Name] = true
		if l.Partitions != nil {
			checkPartitions(t, l.Partitions)
			continue
		}
		checkStrategy(t, l.Strategy)
	}
}

// sizes are numbers of clusters that limits are taken of.
var sizes = []int{1, 2, 3, 7, 100, 10_000}

func checkStrategy(t *testing.T, s Strategy) {
	t.Helper()
	if s.Type != All && s.Type != Progressive && s.Type != ProgressivePerGroup {
		t.Errorf("type %q", s.Type)
	}
	if s.MinSuccessTime < 0 || s.ProgressDeadline < 0 {
		t.Errorf("minSuccessTime %s, progressDeadline %s", s.MinSuccessTime, s.ProgressDeadline)
	}
	failures, slots := []*intstr.IntOrString{&s.MaxFailures}, []*intstr.IntOrString{s.QueueConcurrency, s.GroupConcurrency}
	for name, g := range s.Groups {
		if name == "" || (g.MinSuccessTime != nil && *g.MinSuccessTime < 0) || (g.ProgressDeadline != nil && *g.ProgressDeadline < 0) {
			t.Errorf("group %q: %+v", name, g)
		}
		failures, slots = append(failures, g.MaxFailures), append(slots, g.MaxConcurrency)
	}
	checkScaled(t, "maxFailures", 0, failures)
	checkScaled(t, "maxConcurrency", 1, slots)
	seen := map[MandatoryGroup]bool{}
	for _, m := range s.Mandatory {
		if m.Index < 0 || seen[m] {
			t.Errorf("mandatory group %+v", m)
		}
		seen[m] = true
	}
}

// checkScaled fails for limits that are less than they may be of any number of clusters,
// or a percentage that is more than all.
func checkScaled(t *testing.T, field string, least int, limits []*intstr.IntOrString) {
	t.Helper()
	for _, v := range limits {
		for _, n := range sizes {
			if v == nil {
				continue
			}
			if got := scaleUp(*v, n); got < least || (v.Type == intstr.String && got > n) {
				t.Errorf("%s %s of %d is %d", field, v, n, got)
			}
		}
	}
}

func checkPartitions(t *testing.T, s *Partitions) {
	t.Helper()
	if s.MaxNew != nil && *s.MaxNew < 0 {
		t.Errorf("maxNew %d", *s.MaxNew)
	}
	if s.threshold() < 0 {
		t.Errorf("autoPartitionThreshold %d", s.threshold())
	}
	for _, n := range sizes {
		if size := s.size(n); size < 0 || size > n {
			t.Errorf("partitions of %d out of %d", size, n)
		}
	}
	for _, m := range s.Manual {
		if m.Name == "" {
			t.Error("a partition has no name")
		}
	}
}
