package simulate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// TestAsks: what waits for a person is told once, and again when it comes again.
func TestAsks(t *testing.T) {
	tl := newTimeline()
	s := &sim{}
	ask := []rollout.ConfirmRequest{{Reason: rollout.RemovalGuard, Sentence: "6 of 8 would go", Clusters: []string{"a", "b"}}}
	for _, list := range [][]rollout.ConfirmRequest{ask, ask, nil, ask} {
		tl.asks(s, list)
		s.now += time.Second
	}
	want := []Entry{
		{At: 0, What: Asks, Count: 2, Clusters: []string{"a", "b"}, Why: "RemovalGuard: 6 of 8 would go"},
		{At: Duration(3 * time.Second), Seconds: 3, What: Asks, Count: 2, Clusters: []string{"a", "b"}, Why: "RemovalGuard: 6 of 8 would go"},
	}
	if diff := cmp.Diff(want, tl.entries); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestConfirm: what was asked for is confirmed for this revision.
func TestConfirm(t *testing.T) {
	s := &sim{revision: "v2", timeline: newTimeline()}
	s.last.Confirm = []rollout.ConfirmRequest{{Reason: rollout.GroupVanished, Subject: "fleet/dev"}, {Reason: rollout.RemovalGuard, Clusters: []string{"a"}}}
	s.confirm()
	want := []rollout.Confirmation{
		{Reason: rollout.GroupVanished, Subject: "fleet/dev", Revision: "v2"},
		{Reason: rollout.RemovalGuard, Revision: "v2", Clusters: []string{"a"}},
	}
	if diff := cmp.Diff(want, s.confirmed); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestElapsed(t *testing.T) {
	cases := map[string]struct{ in, want string }{
		"a time":       {"soaking until 2000-01-01T00:05:30Z (a)", "soaking until 5m30s (a)"},
		"two times":    {"from 2000-01-01T00:00:00Z to 2000-01-01T02:00:00.5Z", "from 0s to 2h0m0.5s"},
		"no time":      {"waiting for group dev", "waiting for group dev"},
		"not a moment": {"revision 2000-13-41T99:00:00Z", "revision 2000-13-41T99:00:00Z"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := elapsed(tc.in); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestMerge: steps of a group are one line until something else is told of it.
func TestMerge(t *testing.T) {
	entry := func(group string, what What, count int) run {
		return run{Entry: Entry{Group: group, What: what, Count: count}, steps: 1, most: count}
	}
	got := merge([]run{
		entry("a", Opened, 9), entry("a", Admitted, 5), entry("a", Done, 5), entry("b", Admitted, 2), entry("a", Admitted, 4), entry("a", Done, 4),
		entry("a", Passed, 0), entry("a", Admitted, 1), entry("", Pauses, 0), entry("b", Admitted, 1),
	})
	type line struct {
		group              string
		what               What
		count, steps, most int
	}
	var lines []line
	for _, r := range got {
		lines = append(lines, line{r.Group, r.What, r.Count, r.steps, r.most})
	}
	want := []line{
		{"a", Opened, 9, 1, 9}, {"a", Admitted, 9, 2, 5}, {"a", Done, 9, 2, 5}, {"b", Admitted, 2, 1, 2},
		{"a", Passed, 0, 1, 0}, {"a", Admitted, 1, 1, 1}, {"", Pauses, 0, 1, 0}, {"b", Admitted, 1, 1, 1},
	}
	if diff := cmp.Diff(want, lines, cmp.AllowUnexported(line{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDown: what counts as down, and where most of it was.
func TestDown(t *testing.T) {
	ready := rollout.Verdict{Admission: "t", Applied: true, Ready: true}
	at := func(group string) rollout.Place {
		return rollout.Place{Lane: "l", GroupKey: rollout.GroupKey{Name: group}}
	}
	of := func(group string, ran, available bool, v rollout.Verdict) *node {
		return &node{ran: ran, row: rollout.Cluster{Available: available, Work: &rollout.Work{Admission: "t", Place: at(group), Verdict: v}}}
	}
	s := &sim{now: time.Minute, nodes: []*node{
		of("a", false, true, rollout.Verdict{}),                              // installing
		of("a", true, true, rollout.Verdict{}),                               // updating
		of("b", true, true, rollout.Verdict{Admission: "old", Ready: true}),  // updating: that word is an older admission's
		of("b", true, true, rollout.Verdict{Admission: "t", Terminal: true}), // updating: failed
		of("b", true, false, ready),                                          // offline
		of("b", true, true, ready),                                           // well
		{},                                                                   // has nothing
	}}
	d := newDownCount()
	d.count(s)
	want := Down{
		Updating:   Peak{Count: 3, At: Duration(time.Minute), Lane: "l", Group: "b", InGroup: 2},
		Total:      Peak{Count: 4, At: Duration(time.Minute), Lane: "l", Group: "b", InGroup: 3},
		Installing: Peak{Count: 1, At: Duration(time.Minute), Lane: "l", Group: "a", InGroup: 1},
	}
	if diff := cmp.Diff(want, d.Down); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.now, s.nodes = 2*time.Minute, s.nodes[:2]
	d.count(s)
	if diff := cmp.Diff(want, d.Down); diff != "" {
		t.Errorf("a better moment changed the worst (-want +got):\n%s", diff)
	}
}
