package rollout

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestCountsWhileUnread: a bundle that cannot be read selects nothing, and what it
// has is still counted.
func TestCountsWhileUnread(t *testing.T) {
	for _, change := range []func(*Input){
		func(in *Input) { in.Blocks = []Hold{{BundleInvalid, "x"}} },
		func(in *Input) {
			in.Source = Source{Name: "RolloutPolicy/p", Hold: &Hold{PolicyMissing, "x"}, ImplicitTargets: true}
		},
	} {
		in := fleetOf(perGroup("0"), "a dev Done", "b stg Old", "c stg -")
		for i := range in.Clusters {
			in.Clusters[i].Selected, in.Clusters[i].DesiredID = false, ""
		}
		change(&in)
		want := Counts{Total: 2, Done: 1, Pending: 1}
		r := Plan(in, testNow)
		if diff := cmp.Diff(want, r.Counts); diff != "" || len(r.Stamp) > 0 || len(r.Remove) > 0 {
			t.Errorf("%v %v (-want +got):\n%s", r.Stamp, r.Remove, diff)
		}
	}
}

// TestClusterReasons: one cluster is changed; its group and the next one are watched.
func TestClusterReasons(t *testing.T) {
	tests := map[string]struct {
		state, want string
		change      func(*Cluster)
		reason      Reason
		shown       Shown
		admit       string
	}{
		"new":                      {"-", "Pending", func(*Cluster) {}, InProgress, ShownPending, "a"},
		"cannot be written":        {"-", "Pending", func(c *Cluster) { c.Unwritten = "the webhook says no" }, WorkRefused, ShownPending, "a"},
		"on the old id":            {"Old", "Pending", func(*Cluster) {}, InProgress, ShownOutOfSync, "a"},
		"just admitted":            {"Progressing", "Progressing", func(*Cluster) {}, NotReady, ShownWaitApplied, ""},
		"applied":                  {"Progressing", "Progressing", func(c *Cluster) { c.Work.Verdict.Applied = true }, NotReady, ShownNotReady, ""},
		"retrying":                 {"Progressing", "Progressing", func(c *Cluster) { c.Work.Verdict.State = "ErrApplied" }, Retrying, ShownErrApplied, ""},
		"waiting for a dependency": {"Progressing", "Progressing", func(c *Cluster) { c.Work.Verdict.Waiting = true }, WaitingForDependency, ShownWaiting, ""},
		"refused":                  {"Progressing", "Progressing", func(c *Cluster) { c.Work.Refused = "no right" }, WorkRefused, ShownWaitApplied, ""},
		"offline":                  {"Done", "Progressing", func(c *Cluster) { c.Available = false }, Offline, ShownNotReady, ""},
		"without the add-on":       {"Progressing", "Progressing", func(c *Cluster) { c.AddOn = AddOnMissing }, AddOnNotInstalled, ShownWaitApplied, ""},
		"new without the add-on":   {"-", "Pending", func(c *Cluster) { c.AddOn = AddOnMissing }, InProgress, ShownPending, "a"},
		"the add-on goes":          {"Old", "Pending", func(c *Cluster) { c.AddOn = AddOnDeleting }, AddOnNotInstalled, ShownOutOfSync, ""},
		"the work goes":            {"Done", "Pending", func(c *Cluster) { c.Work.Deleting = true }, AddOnNotInstalled, ShownOutOfSync, ""},
		"soaking":                  {"Soaking", "Soaking", func(*Cluster) {}, SoakingReason, ShownReady, ""},
		"drifted":                  {"Soaking", "Soaking", func(c *Cluster) { c.Work.Verdict.State = "Modified" }, SoakingReason, ShownModified, ""},
		"done":                     {"Done", "Done", func(*Cluster) {}, Complete, ShownReady, "b"},
		"failed":                   {"Failed", "Failed", func(*Cluster) {}, DeployFailed, ShownErrApplied, ""},
		"timed out":                {"TimedOut", "TimedOut", func(*Cluster) {}, DeadlineExceeded, ShownWaitApplied, ""},
		"recovering":               {"Recovering", "Recovering", func(*Cluster) {}, SoakingReason, ShownReady, ""},
		"cannot be rendered":       {"Done", "Failed", func(c *Cluster) { c.RenderError, c.DesiredID = "bad template", "" }, RenderFailed, ShownErrApplied, ""},
		"cannot be rendered yet":   {"Old", "Pending", func(c *Cluster) { c.RenderWaits, c.DesiredID = "wait", "" }, ValuesMissing, ShownOutOfSync, ""},
		"was never rendered":       {"Old", "Pending", func(c *Cluster) { c.DesiredID = "" }, RenderFailed, ShownOutOfSync, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := fleetOf(perGroup("0"), "a dev "+tt.state, "b stg -")
			tt.change(in.cluster(t, "a"))
			r := Plan(in, testNow)
			got := row(t, r, "a")
			if string(got.State) != tt.want || got.Reason != tt.reason || got.Shown != tt.shown || admitted(r) != tt.admit {
				t.Errorf("%s %s %s, admitted %q (%s); want %s %s %s, %q", got.State, got.Reason, got.Shown, admitted(r), got.Sentence, tt.want, tt.reason, tt.shown, tt.admit)
			}
			if got.Sentence == "" || r.Sentence == "" {
				t.Error("no sentence")
			}
		})
	}
}

func TestEmptyDecisionGroup(t *testing.T) {
	in := fleetOf(perGroup("0"), "a dev Done")
	in.Views["app/fleet"].believed.Empty = []string{"canary"}
	r := Plan(in, testNow)
	if len(r.Warnings) != 1 || r.Warnings[0].Reason != EmptyDecisionGroup || !strings.Contains(r.Warnings[0].Sentence, "group canary of Placement app/fleet") {
		t.Errorf("warnings %v", r.Warnings)
	}
}

// TestSentences: they name the group, up to five clusters and an absolute time.
func TestSentences(t *testing.T) {
	tests := map[string]struct {
		rows []string
		want string
	}{
		"soaking":  {[]string{"dev1 dev Done", "dev2 dev Soaking"}, "waiting for group dev: 1 of 2 clusters is soaking until 2026-01-02T16:00:15Z (dev2)"},
		"mixed":    {[]string{"a dev Progressing", "b dev Soaking", "c dev -"}, "waiting for group dev: 1 of 3 clusters is progressing until 2026-01-02T16:00:30Z at most (a), 1 is soaking until 2026-01-02T16:00:15Z (b), 1 is pending (c); a: not ready yet"},
		"many":     {[]string{"a dev Progressing", "b dev Progressing", "c dev Progressing", "d dev Progressing", "e dev Progressing", "f dev Progressing", "g dev Soaking"}, "waiting for group dev: 6 of 7 clusters are progressing until 2026-01-02T16:00:30Z at most (a, b, c, d, e and 1 more), 1 is soaking until 2026-01-02T16:00:15Z; a: not ready yet"},
		"breached": {[]string{"a dev TimedOut", "b dev Failed"}, "stopped at group dev: 2 of 2 clusters failed (a, b), maxFailures is 0; a: not ready in time, since 2026-01-02T15:59:30Z: not ready yet"},
		"complete": {[]string{"a dev Done"}, "1 cluster is done"},
		"the rest": {[]string{"a dev Done", "b - Soaking"}, "waiting for group -: 1 of 1 cluster is soaking until 2026-01-02T16:00:15Z (b)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := fleetOf(perGroup("0"), tt.rows...)
			r := Plan(in, testNow)
			if r.Sentence != tt.want {
				t.Errorf("%q, want %q", r.Sentence, tt.want)
			}
			if later := Plan(in, testNow.Add(2*time.Second)); later.Sentence != r.Sentence {
				t.Errorf("the sentence changes with time: %q", later.Sentence)
			}
		})
	}
}

// TestUnconfirmedSoak: a soak that is over is not told as one that ends soon.
func TestUnconfirmedSoak(t *testing.T) {
	in := fleetOf(perGroup("0"), "a dev Soaking", "b dev Done")
	if r := Plan(in, testNow.Add(20*time.Second)); r.RecheckAfter != 5*time.Second {
		t.Errorf("recheck after %s", r.RecheckAfter)
	}
	r := Plan(in, testNow.Add(25*time.Second))
	if want := "waiting for group dev: 1 of 2 clusters is soaked and not confirmed by the cluster (a)"; r.Sentence != want {
		t.Errorf("%q, want %q", r.Sentence, want)
	}
	want := "ready since 2026-01-02T15:59:55Z, soaked until 2026-01-02T16:00:15Z, waiting for the cluster to confirm it"
	if got := row(t, r, "a").Sentence; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNoDeadline: a time is told only if it is true of every cluster that progresses.
func TestNoDeadline(t *testing.T) {
	in := fleetOf(perGroup("0"), "a dev Progressing", "b dev Progressing")
	in.cluster(t, "b").Work.Verdict.Waiting = true
	if want, got := "waiting for group dev: 2 of 2 clusters are progressing (a, b); a: not ready yet", Plan(in, testNow).Sentence; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestStatusOfGroups: what the groups of a plan say.
func TestStatusOfGroups(t *testing.T) {
	r := Plan(fleetOf(perGroup("50%"), "a dev Done", "b dev TimedOut", "c stg Soaking", "d stg -", "e prod Old"), testNow)
	want := []GroupResult{
		{GroupKey: GroupKey{Name: "dev"}, Open: true, Unavailable: 1, Passed: true, MaxFailures: 1, MaxConcurrency: -1, MaxUnavailable: -1, MinSuccessTime: testSoak, ProgressDeadline: testDeadline, Counts: Counts{Total: 2, Done: 1, TimedOut: 1}, OpenedAt: testNow,
			Reason: Complete, Sentence: "passed: 1 of 2 clusters failed (b), maxFailures is 1"},
		{GroupKey: GroupKey{Name: "stg"}, Open: true, Unavailable: 1, MaxFailures: 1, MaxConcurrency: -1, MaxUnavailable: -1, InFlight: 2, MinSuccessTime: testSoak, ProgressDeadline: testDeadline, Next: []string{"d"}, Counts: Counts{Total: 2, Pending: 1, Soaking: 1}, OpenedAt: testNow, NextAt: testNow.Add(15 * time.Second),
			Reason: InProgress, Sentence: "1 of 2 clusters is soaking until 2026-01-02T16:00:15Z (c), 1 is pending (d)", Holding: []string{"c", "d"}},
		{GroupKey: GroupKey{Name: "prod"}, MaxFailures: 1, MaxConcurrency: -1, MaxUnavailable: -1, MinSuccessTime: testSoak, ProgressDeadline: testDeadline, Counts: Counts{Total: 1, Pending: 1}, Reason: WaitingForGroup,
			Sentence: "waiting for group stg: 1 of 2 clusters is soaking until 2026-01-02T16:00:15Z (c), 1 is pending (d)", Holding: []string{"e"}},
	}
	if diff := cmp.Diff(want, r.Lanes[0].Groups, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r.Current == nil || *r.Current != (Place{"fleet", GroupKey{Name: "stg"}}) || r.RecheckAfter != 15*time.Second {
		t.Errorf("current %v, recheck after %v", r.Current, r.RecheckAfter)
	}
}
