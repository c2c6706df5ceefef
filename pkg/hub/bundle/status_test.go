package bundle

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	workv1 "open-cluster-management.io/api/work/v1"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

func TestCut(t *testing.T) {
	tests := map[string]struct {
		in       string
		wantSame bool
	}{
		"short":                      {in: "dev is soaking", wantSame: true},
		"exactly the limit":          {in: strings.Repeat("a", maxMessage), wantSame: true},
		"too long":                   {in: strings.Repeat("a", maxMessage+1)},
		"cut in a character of four": {in: strings.Repeat("𝄞", maxMessage)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := cut(tt.in)
			if len(got) > maxMessage || !utf8.ValidString(got) {
				t.Errorf("cut to %d bytes, valid %v", len(got), utf8.ValidString(got))
			}
			if (got == tt.in) != tt.wantSame {
				t.Errorf("cut(%d bytes) = %d bytes", len(tt.in), len(got))
			}
		})
	}
}

func TestGroupName(t *testing.T) {
	tests := map[string]struct {
		lanes int
		place rollout.Place
		want  string
	}{
		"one lane":                   {1, place("l", "dev", 0), "dev"},
		"several lanes":              {2, place("l", "dev", 0), "l/dev"},
		"a second group of the name": {1, place("l", "dev", 1), "dev[1]"},
		"the unnamed rest":           {1, place("l", "", 0), "(unmatched)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := groupName(tt.lanes, tt.place); got != tt.want {
				t.Errorf("groupName = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestBundleStatus(t *testing.T) {
	plan := planOf(
		shownOn("dev-1", "dev", rollout.ShownReady), shownOn("dev-2", "dev", rollout.ShownErrApplied),
		shownOn("stg-1", "stg", rollout.ShownOutOfSync), shownOn("stg-2", "stg", rollout.ShownPending),
		rollout.ClusterResult{Name: "left", Shown: rollout.ShownReady},
	)
	got := bundleStatus(factsOf(), &question{matched: true, packed: &packed{sum: "sum"}}, plan)
	want := fleet.BundleStatus{
		Summary: fleet.BundleSummary{Ready: 1, ErrApplied: 1, OutOfSync: 1, Pending: 1, DesiredReady: 4,
			NonReadyResources: []fleet.NonReadyResource{
				{Name: "dev-2", State: fleet.ErrApplied, Message: "about dev-2"},
				{Name: "stg-1", State: fleet.OutOfSync, Message: "about stg-1"},
				{Name: "stg-2", State: fleet.Pending, Message: "about stg-2"},
			}},
		Unavailable: 1, UnavailablePartitions: 1, MaxUnavailable: 4, ObservedGeneration: 3, ResourcesSHA256Sum: "sum",
		Display: fleet.BundleDisplay{ReadyClusters: "1/4", State: "ErrApplied"},
		PartitionStatus: []fleet.PartitionStatus{
			{Name: "dev", Count: 2, Unavailable: 1, MaxUnavailable: 2, Summary: fleet.BundleSummary{Ready: 1, ErrApplied: 1, DesiredReady: 2}},
			{Name: "stg", Count: 2, MaxUnavailable: 1, Summary: fleet.BundleSummary{OutOfSync: 1, Pending: 1, DesiredReady: 2}},
		},
	}
	got.Conditions = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestBundleConditions(t *testing.T) {
	tests := map[string]struct {
		plan     *rollout.Result
		want     string // Ready RolloutProgressing RolloutBreached
		wantText string
	}{
		"under way":            {planOf(shownOn("a", "dev", rollout.ShownNotReady)), "False True False", "the sentence"},
		"ready":                {complete(planOf(shownOn("a", "dev", rollout.ShownReady))), "True False False", "the sentence"},
		"ready and soaking":    {planOf(shownOn("a", "dev", rollout.ShownReady)), "True True False", "the sentence"},
		"ready and paused":     {held(planOf(shownOn("a", "dev", rollout.ShownReady)), rollout.Paused), "True False False", "the sentence"},
		"ready and unreadable": {held(planOf(shownOn("a", "dev", rollout.ShownReady)), rollout.BundleInvalid), "False False False", "the sentence"},
		"no clusters":          {planOf(), "False False False", "the sentence"},
		"breached":             {breached(planOf(shownOn("a", "dev", rollout.ShownErrApplied))), "False False True", "the sentence"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := factsOf()
			s := bundleStatus(f, &question{matched: true, packed: &packed{}}, tt.plan)
			var got []string
			for _, c := range s.Conditions {
				got = append(got, string(c.Status))
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if s.Conditions[0].Message != tt.wantText {
				t.Errorf("Ready says %q, want %q", s.Conditions[0].Message, tt.wantText)
			}
			f.bundle.Status, f.now = s, noon.Add(time.Hour)
			if again := bundleStatus(f, &question{matched: true, packed: &packed{}}, tt.plan); !equality.Semantic.DeepEqual(s, again) {
				t.Errorf("a second look changes the status:\n%s", cmp.Diff(s, again))
			}
		})
	}
}

func place(lane, name string, index int) rollout.Place {
	return rollout.Place{Lane: lane, GroupKey: rollout.GroupKey{Name: name, Index: index}}
}

func TestABindingThatIsGoneIsAWarning(t *testing.T) {
	plan := &rollout.Result{Warnings: []rollout.Hold{{Reason: rollout.EmptyDecisionGroup, Sentence: "empty"}}}
	tests := map[string]struct {
		works map[string]*workv1.ManifestWork
		want  []rollout.Reason
	}{
		"on no cluster it holds the bundle instead": {nil, []rollout.Reason{rollout.EmptyDecisionGroup}},
		"on a cluster that will lose the bundle": {map[string]*workv1.ManifestWork{"dev": {}},
			[]rollout.Reason{rollout.BindingMissing, rollout.EmptyDecisionGroup}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []rollout.Reason
			for _, w := range warningsOf(&facts{works: tt.works}, plan) {
				got = append(got, w.Reason)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func factsOf() *facts {
	f := &facts{now: noon, bundle: &fleet.Bundle{}}
	f.bundle.Namespace, f.bundle.Name, f.bundle.Generation = "team", "app", 3
	return f
}

func shownOn(name, group string, s rollout.Shown) rollout.ClusterResult {
	return rollout.ClusterResult{
		Name: name, Place: place("l", group, 0), InLane: true, Selected: true, Shown: s, Sentence: "about " + name,
	}
}

// planOf has the groups dev, open and not passed, and stg, closed.
func planOf(clusters ...rollout.ClusterResult) *rollout.Result {
	plan := &rollout.Result{Reason: rollout.InProgress, Sentence: "the sentence", Clusters: clusters}
	totals, down := map[string]int{}, 0
	for _, c := range clusters {
		totals[c.Place.Name]++
		if unavailable(c.Shown) {
			down++
		}
	}
	plan.Lanes = []rollout.LaneResult{{Name: "l", Groups: []rollout.GroupResult{
		{GroupKey: rollout.GroupKey{Name: "dev"}, Open: true, Counts: rollout.Counts{Total: totals["dev"]}, MaxUnavailable: -1, Unavailable: down},
		{GroupKey: rollout.GroupKey{Name: "stg"}, Counts: rollout.Counts{Total: totals["stg"]}, MaxUnavailable: 1},
	}}}
	return plan
}

func complete(p *rollout.Result) *rollout.Result {
	p.Complete, p.Reason = true, rollout.Complete
	return p
}

func held(p *rollout.Result, reason rollout.Reason) *rollout.Result {
	p.Hold = &rollout.Hold{Reason: reason, Sentence: "the sentence"}
	p.Reason = reason
	return p
}

func breached(p *rollout.Result) *rollout.Result {
	p.Breached, p.Lanes[0].Groups[0].Breached = true, true
	return p
}
