package rollout

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	testingclock "k8s.io/utils/clock/testing"
	library "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1"
	tracker "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"
)

// defect is one row: a fleet, what this planner admits and says of the rollout, and what
// the library admits.
type defect struct {
	strategy Strategy
	fleet    []string
	want     string
	reason   Reason
	library  string
}

// TestLibraryDefects has the situations in which the rollout library of OCM's
// sdk-go (v1.3.0) was seen to answer wrongly, by the names that the project's
// research gave them, what has to be admitted instead, and what the library admits.
func TestLibraryDefects(t *testing.T) {
	all := Strategy{Type: All, ProgressDeadline: testDeadline, MaxFailures: intstr.FromInt32(0)}
	endless := func(s Strategy) Strategy { s.ProgressDeadline = 0; return s }
	byIndex := perGroup("0")
	byIndex.Mandatory = []MandatoryGroup{{Index: 1}}
	for name, tt := range map[string]defect{
		"P1: one timed out, one progressing, maxFailures 1": {perGroup("1"), []string{"a1 g0 Late", "a2 g0 Progressing", "b1 g1 -"}, "", NotReady, "b1"},
		"P1b: the first is reported as timed out":           {perGroup("1"), []string{"a1 g0 TimedOut", "a2 g0 Progressing", "b1 g1 -"}, "", NotReady, "b1"},
		"P1c: the other soaks":                              {perGroup("1"), []string{"a1 g0 TimedOut", "a2 g0 Soaking", "b1 g1 -"}, "", SoakingReason, "b1"},
		"P1d: the other is not admitted yet":                {perGroup("1"), []string{"a1 g0 TimedOut", "a2 g0 -", "b1 g1 -"}, "a2", InProgress, "a2 b1"},
		// Right in the library, and a terminal failure counts here without its deadline too.
		"P1e: failed, not timed out":                       {perGroup("1"), []string{"a1 g0 Failed", "a2 g0 Progressing", "b1 g1 -"}, "", NotReady, ""},
		"P2: maxFailures above the size tolerates all":     {perGroup("5"), []string{"a1 g0 Failed", "a2 g0 Done", "b1 g1 -"}, "b1", InProgress, ""},
		"P3: 1% of two is one":                             {perGroup("1%"), []string{"a1 g0 Failed", "a2 g0 Done", "b1 g1 -"}, "b1", InProgress, "b1"},
		"P3: 0% of two is none":                            {perGroup("0%"), []string{"a1 g0 Failed", "a2 g0 Done", "b1 g1 -"}, "", FailureBudgetExceeded, ""},
		"P4: mandatory done, the next failed within 100%":  {perGroup("100%", "g0"), []string{"a1 g0 Done", "b1 g1 FailedLate", "c1 g2 -"}, "c1", InProgress, ""},
		"P4b: the same without mandatory groups":           {perGroup("100%"), []string{"a1 g0 Done", "b1 g1 FailedLate", "c1 g2 -"}, "c1", InProgress, "c1"},
		"P4c: the same, reported as timed out":             {perGroup("100%", "g0"), []string{"a1 g0 Done", "b1 g1 TimedOut", "c1 g2 -"}, "c1", InProgress, "c1"},
		"P4d: a failure needs no deadline to be tolerated": {endless(perGroup("100%", "g0")), []string{"a1 g0 Done", "b1 g1 Failed", "c1 g2 -"}, "c1", InProgress, ""},
		// Kept on purpose: without a deadline what progresses is waited for, visibly.
		"P4d: no deadline waits":                          {endless(perGroup("0")), []string{"a1 g0 Done", "b1 g1 Progressing", "c1 g2 -"}, "", NotReady, ""},
		"P4e: mandatory done, the rest of a group starts": {perGroup("0", "g0"), []string{"a1 g0 Done", "b1 g1 Progressing", "b2 g1 -"}, "b2", NotReady, ""},
		// Kept on purpose, as OCM documents: index order, not the order of the list.
		"P5: mandatory groups in index order":            {perGroup("0", "g1", "g0"), []string{"a1 g0 -", "b1 g1 -", "c1 g2 -"}, "a1", InProgress, "a1"},
		"P5: a mandatory group goes before earlier ones": {perGroup("0", "g1"), []string{"a1 g0 -", "b1 g1 -"}, "b1", InProgress, "b1"},
		"P5: by index":                                          {byIndex, []string{"a1 g0 -", "b1 g1 -"}, "b1", InProgress, "b1"},
		"P6: a mandatory group timed out":                       {perGroup("100%", "g0"), []string{"a1 g0 TimedOut", "b1 g1 -"}, "", FailureBudgetExceeded, "b1"},
		"P6b: a mandatory group failed behind its deadline":     {perGroup("100%", "g0"), []string{"a1 g0 FailedLate", "b1 g1 -"}, "", FailureBudgetExceeded, ""},
		"S1: a breach stops the rest of its group":              {perGroup("0"), []string{"a1 g0 Failed", "a2 g0 -", "b1 g1 -"}, "", FailureBudgetExceeded, "a2"},
		"S1: a breach later stops the lane":                     {perGroup("0"), []string{"a1 g0 -", "b1 g1 Failed"}, "", FailureBudgetExceeded, "a1"},
		"S2: a failure later holds nobody back":                 {endless(perGroup("1")), []string{"a1 g0 Done", "b1 g1 -", "c1 g2 Failed"}, "b1", InProgress, ""},
		"S2: one under way does not hold the rest of its group": {perGroup("0"), []string{"a1 g0 Done", "b1 g1 Progressing", "b2 g1 -"}, "b2", NotReady, ""},
		"T4: a mandatory group that does not exist":             {perGroup("0", "canary"), []string{"a1 g0 -"}, "", MandatoryGroupMissing, "a1"},
		// The same on both sides.
		"All: every group at once, whatever failed":       {all, []string{"a1 g0 Failed", "a2 g0 -", "b1 g1 -"}, "a2 b1", InProgress, "a2 b1"},
		"a group that lost success closes the later ones": {perGroup("0"), []string{"a1 g0 Progressing", "b1 g1 Done", "c1 g2 -"}, "", NotReady, ""},
		// The library forgets that a cluster failed once it succeeds.
		"a recovering cluster counts as failed": {perGroup("2"), []string{"a1 g0 TimedOut", "a2 g0 Recovering", "b1 g1 -"}, "b1", InProgress, "b1"},
		"nobody waits for a recovering cluster": {perGroup("1"), []string{"a1 g0 Recovering", "a2 g0 Done", "b1 g1 -"}, "b1", InProgress, ""},
		"a recovering cluster opens nothing":    {perGroup("0"), []string{"a1 g0 Recovering", "b1 g1 -"}, "", FailureBudgetExceeded, ""},
	} {
		t.Run(name, tt.check)
	}
}

func (d defect) check(t *testing.T) {
	r := Plan(fleetOf(d.strategy, d.fleet...), testNow)
	if got := admitted(r); got != d.want || r.Reason != d.reason {
		t.Errorf("admitted %q with %s %q, want %q with %s", got, r.Reason, r.Sentence, d.want, d.reason)
	}
	if len(r.Remove) > 0 {
		t.Errorf("removed %v", r.Remove)
	}
	if got := libraryOf(d.strategy, d.fleet...).admits(); got != d.library {
		t.Errorf("the library admitted %q, want %q", got, d.library)
	}
}

// TestLibraryQueueDefects are the rows about type Progressive.
func TestLibraryQueueDefects(t *testing.T) {
	endless := queueOf("1", "1")
	endless.ProgressDeadline = 0
	for name, tt := range map[string]defect{
		"Q1: one under way behind one to be applied":      {queueOf("1", "0"), []string{"a g0 Old", "c g0 Progressing"}, "", NotReady, "a"},
		"Q2: failures behind those to be applied":         {queueOf("2", "0"), []string{"a g0 Old", "b g0 Old", "e g0 TimedOut", "f g0 TimedOut"}, "", FailureBudgetExceeded, "a b"},
		"Q3: a failure without a deadline frees its slot": {endless, []string{"a g0 Failed", "b g0 -"}, "b", InProgress, ""},
		"P2: maxFailures above the size tolerates all":    {queueOf("1", "5"), []string{"a g0 TimedOut", "b g0 -"}, "b", InProgress, ""},
		"P4: mandatory done, one behind them timed out":   {queueOf("2", "100%", "g0"), []string{"a g0 Done", "b g1 Late", "c g1 -"}, "c", InProgress, ""},
		"P4e: mandatory done, one behind them progresses": {queueOf("2", "0", "g0"), []string{"a g0 Done", "b g1 Progressing", "c g1 -"}, "c", NotReady, ""},
		"P6: a mandatory group timed out":                 {queueOf("1", "100%", "g0"), []string{"a g0 TimedOut", "b g1 -"}, "", FailureBudgetExceeded, "b"},
		// Kept on purpose: failures are of the whole lane, in mandatory groups too.
		"1.5: failures are counted over the lane":   {queueOf("1", "34%"), []string{"a g0 TimedOut", "b g1 Done", "c g1 -"}, "c", InProgress, "c"},
		"1.5: the queue goes by group, then name":   {queueOf("1", "0"), []string{"z g0 -", "a g1 -"}, "z", InProgress, "a"},
		"T4: a mandatory group that does not exist": {queueOf("1", "0", "canary"), []string{"a1 g0 -"}, "", MandatoryGroupMissing, "a1"},
	} {
		t.Run(name, tt.check)
	}
}

// TestQueueDefault is 1.5: what the API documents as the default of maxConcurrency is
// the Placement's clustersPerDecisionGroup, and the library takes all clusters.
func TestQueueDefault(t *testing.T) {
	fleet := []string{"a g0 -", "b g0 -", "c g0 -"}
	in := fleetOf(queueOf("", "0"), fleet...)
	snapshot := in.Views["app/fleet"].Snapshot
	snapshot.PerGroup = intstr.FromInt32(2)
	in.Views["app/fleet"] = Observe(nil, snapshot, testSettle, epoch)
	if got := admitted(Plan(in, testNow)); got != "a b" {
		t.Errorf("admitted %q", got)
	}
	if got := libraryOf(queueOf("", "0"), fleet...).admits(); got != "a b c" {
		t.Errorf("the library admitted %q", got)
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
		groups := tracker.ClusterGroupsMap{{GroupName: "g0"}: sets.New("a1"), {GroupName: "g2", GroupIndex: 2}: sets.New("x2")}
		call := libraryWith(s, groups, libraryRow("a1", "Done"), libraryRow("x2", "Done"))
		if r, err := call.ask(); err != nil || len(r.ClustersRemoved) != 1 || r.ClustersRemoved[0].ClusterName != "x2" {
			t.Errorf("%s: the library removes %v (%v)", s.Type, r.ClustersRemoved, err)
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
	groups := tracker.ClusterGroupsMap{{GroupName: "old"}: sets.New("a1"), {GroupName: "new"}: sets.New("a2")}
	call := libraryWith(perGroup("0"), groups, libraryRow("a1", "Done"), libraryRow("a2", "Done"))
	// Which one is lost is the order of a map.
	if r, err := call.ask(); err != nil || len(r.ClustersRemoved) != 1 {
		t.Errorf("the library removes %v (%v)", r.ClustersRemoved, err)
	}
}

// TestDecidedTwice is T1: with two rows of one cluster the last one won.
func TestDecidedTwice(t *testing.T) {
	placement, decisions := placed([]string{"g0", "g1"}, decision("d1", 0, "g0", "a1"), decision("d2", 1, "g1", "a1", "b1"))
	in := fleetOf(perGroup("1"), "a1 g0 TimedOut", "b1 g1 -")
	in.Views["app/fleet"] = Observe(in.Views["app/fleet"], NewSnapshot(placement, decisions), testSettle, testNow)
	if r := Plan(in, testNow); r.Reason != PlacementInconsistent || len(r.Remove)+len(r.Admit) > 0 {
		t.Errorf("%s %s: admit %v, remove %v", r.Reason, r.Sentence, r.Admit, r.Remove)
	}
	groups := tracker.ClusterGroupsMap{{GroupName: "g0"}: sets.New("a1"), {GroupName: "g1", GroupIndex: 1}: sets.New("b1")}
	failed, done := libraryRow("a1", "FailedLate"), libraryRow("a1", "Done")
	for want, call := range map[string]libraryCall{
		"":   libraryWith(perGroup("0"), groups, done, failed),
		"b1": libraryWith(perGroup("0"), groups, failed, done),
	} {
		if got := call.admits(); got != want {
			t.Errorf("the library admits %q, want %q", got, want)
		}
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
	// The library's answer is the same at any time: it waits for a deadline and for a soak.
	groups := tracker.ClusterGroupsMap{{GroupName: "g0"}: sets.New("a1")}
	for _, state := range []string{"Progressing", "Done"} {
		lost := libraryRow("a1", state)
		lost.LastTransitionTime = nil
		call := libraryWith(perGroup("0"), groups, lost)
		for _, later := range []time.Duration{0, time.Hour, 1000 * time.Hour} {
			library.RolloutClock = testingclock.NewFakeClock(testNow.Add(later))
			if r, err := call.ask(); err != nil || len(r.ClustersToRollout) != 1 || len(r.ClustersTimeOut) > 0 {
				t.Errorf("%s after %s: the library waits for %v (%v)", state, later, r.ClustersToRollout, err)
			}
		}
	}
}
