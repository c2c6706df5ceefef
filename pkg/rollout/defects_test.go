package rollout

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestLibraryDefects has the situations in which the rollout library of OCM's
// sdk-go (v1.3.0) was seen to answer wrongly, by the names that the project's
// research gave them, and what has to be admitted instead.
func TestLibraryDefects(t *testing.T) {
	all := Strategy{Type: All, ProgressDeadline: testDeadline, MaxFailures: intstr.FromInt32(0)}
	noDeadline := perGroup("0")
	noDeadline.ProgressDeadline = 0
	byIndex := perGroup("0")
	byIndex.Mandatory = []MandatoryGroup{{Index: 1}}
	tests := map[string]struct {
		strategy Strategy
		fleet    []string
		want     string
		reason   Reason
	}{
		"P1: one timed out, one progressing, maxFailures 1": {perGroup("1"), []string{"a1 g0 TimedOut", "a2 g0 Progressing", "b1 g1 -"}, "", NotReady},
		"P1b: the other soaks":                              {perGroup("1"), []string{"a1 g0 TimedOut", "a2 g0 Soaking", "b1 g1 -"}, "", SoakingReason},
		"P1c: the other is not admitted yet":                {perGroup("1"), []string{"a1 g0 TimedOut", "a2 g0 -", "b1 g1 -"}, "a2", InProgress},
		"P1d: the other is recovering":                      {perGroup("2"), []string{"a1 g0 TimedOut", "a2 g0 Recovering", "b1 g1 -"}, "b1", InProgress},
		"P1e: failed, not timed out":                        {perGroup("1"), []string{"a1 g0 Failed", "a2 g0 Progressing", "b1 g1 -"}, "", NotReady},
		"P2: maxFailures above the size tolerates all":      {perGroup("5"), []string{"a1 g0 Failed", "a2 g0 Done", "b1 g1 -"}, "b1", InProgress},
		"P3: 1% of two is one":                              {perGroup("1%"), []string{"a1 g0 Failed", "a2 g0 Done", "b1 g1 -"}, "b1", InProgress},
		"P3: 0% of two is none":                             {perGroup("0%"), []string{"a1 g0 Failed", "a2 g0 Done", "b1 g1 -"}, "", FailureBudgetExceeded},
		"P4: mandatory done, the next failed within 100%":   {perGroup("100%", "g0"), []string{"a1 g0 Done", "b1 g1 TimedOut", "c1 g2 -"}, "c1", InProgress},
		"P4b: the same without mandatory groups":            {perGroup("100%"), []string{"a1 g0 Done", "b1 g1 TimedOut", "c1 g2 -"}, "c1", InProgress},
		"P4d: no deadline waits, visibly":                   {noDeadline, []string{"a1 g0 Done", "b1 g1 Progressing", "c1 g2 -"}, "", NotReady},
		"P4e: mandatory done, the rest of a group starts":   {perGroup("0", "g0"), []string{"a1 g0 Done", "b1 g1 Progressing", "b2 g1 -"}, "b2", NotReady},
		// Kept on purpose, as OCM documents: index order, not the order of the list.
		"P5: mandatory groups in index order":            {perGroup("0", "g1", "g0"), []string{"a1 g0 -", "b1 g1 -", "c1 g2 -"}, "a1", InProgress},
		"P5: a mandatory group goes before earlier ones": {perGroup("0", "g1"), []string{"a1 g0 -", "b1 g1 -"}, "b1", InProgress},
		"P5: by index":                                    {byIndex, []string{"a1 g0 -", "b1 g1 -"}, "b1", InProgress},
		"P6: a mandatory group timed out":                 {perGroup("100%", "g0"), []string{"a1 g0 TimedOut", "b1 g1 -"}, "", FailureBudgetExceeded},
		"P6b: a mandatory group failed":                   {perGroup("100%", "g0"), []string{"a1 g0 Failed", "b1 g1 -"}, "", FailureBudgetExceeded},
		"S1: a breach stops the rest of its group":        {perGroup("0"), []string{"a1 g0 Failed", "a2 g0 -", "b1 g1 -"}, "", FailureBudgetExceeded},
		"S2: a tolerated failure later holds nobody back": {perGroup("1"), []string{"a1 g0 -", "b1 g1 Failed"}, "a1", InProgress},
		"S2: a breach later stops the lane":               {perGroup("0"), []string{"a1 g0 -", "b1 g1 Failed"}, "", FailureBudgetExceeded},
		"T4: a mandatory group that does not exist":       {perGroup("0", "canary"), []string{"a1 g0 -"}, "", MandatoryGroupMissing},
		"All: every group at once, whatever failed":       {all, []string{"a1 g0 Failed", "a2 g0 -", "b1 g1 -"}, "a2 b1", InProgress},
		"a group that lost success closes the later ones": {perGroup("0"), []string{"a1 g0 Progressing", "b1 g1 Done", "c1 g2 -"}, "", NotReady},
		"a recovering cluster opens nothing":              {perGroup("0"), []string{"a1 g0 Recovering", "b1 g1 -"}, "", FailureBudgetExceeded},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := Plan(fleetOf(tt.strategy, tt.fleet...), testNow)
			if got := admitted(r); got != tt.want || r.Reason != tt.reason {
				t.Errorf("admitted %q with %s %q, want %q with %s", got, r.Reason, r.Sentence, tt.want, tt.reason)
			}
			if len(r.Remove) > 0 {
				t.Errorf("removed %v", r.Remove)
			}
		})
	}
}

// TestIndexGap is P7 and P7b: a gap in the indexes removed clusters.
func TestIndexGap(t *testing.T) {
	for _, s := range []Strategy{perGroup("0"), {Type: All}} {
		placement, decisions := placed([]string{"g0", "g2"}, decision("d1", 0, "g0", "a1"), decision("d2", 2, "g2", "x2"))
		in := fleetOf(s, "a1 g0 Done", "x2 g2 Done")
		if s.Type == All {
			for i := range in.Clusters {
				in.Clusters[i].Work.MinSuccessTime = 0
			}
		}
		in.Views["app/fleet"] = Observe(nil, NewSnapshot(placement, decisions), testSettle, epoch)
		if r := Plan(in, testNow); !r.Complete || len(r.Remove)+len(r.Admit)+len(r.Refresh) > 0 {
			t.Errorf("%s: %s %s %v", s.Type, r.Reason, r.Sentence, r.Remove)
		}
	}
}

// TestTwoNames is P7c: two names for one index while a group is renamed.
func TestTwoNames(t *testing.T) {
	placement, decisions := placed([]string{"old"}, decision("d1", 0, "old", "a1"), decision("d2", 0, "new", "a2"))
	in := fleetOf(perGroup("0"), "a1 old Old", "a2 old Old")
	in.Views["app/fleet"] = Observe(in.Views["app/fleet"], NewSnapshot(placement, decisions), testSettle, testNow)
	r := Plan(in, testNow)
	if r.Reason != PlacementInconsistent || len(r.Remove)+len(r.Admit) > 0 {
		t.Errorf("%s %s: admit %v, remove %v", r.Reason, r.Sentence, r.Admit, r.Remove)
	}
}

// TestLostStamps is R1 and R2: without stamps soaks never ended and deadlines never
// came.
func TestLostStamps(t *testing.T) {
	in := fleetOf(perGroup("0"), "a1 g0 Progressing")
	in.Clusters[0].Work.Stamps = Stamps{}
	r := Plan(in, testNow)
	if len(r.Stamp) != 1 || r.Stamp[0].Stamps.AdmittedAt != testNow || r.RecheckAfter != testDeadline {
		t.Fatalf("stamps %v, recheck after %v", r.Stamp, r.RecheckAfter)
	}
	in.Clusters[0].Work.Stamps = r.Stamp[0].Stamps
	if got := row(t, Plan(in, testNow.Add(testDeadline)), "a1").State; got != TimedOut {
		t.Errorf("state %s after the deadline", got)
	}
}
