package rollout

import (
	"strings"
	"testing"
	"time"
)

func show(in *Input, at time.Time, where map[string]GroupKey) {
	v := in.Views["app/fleet"]
	s := v.Snapshot
	s.Where = where
	in.Views["app/fleet"] = Observe(v, s, testSettle, at)
}

func without(in *Input, at time.Time, names ...string) {
	where := map[string]GroupKey{}
	for name, key := range in.Views["app/fleet"].Snapshot.Where {
		where[name] = key
	}
	for _, name := range names {
		delete(where, name)
	}
	show(in, at, where)
}

// TestAbsence: a Done cluster of dev disappears from the decisions at testNow; the
// plan is made some time later with the timers of plans in between.
func TestAbsence(t *testing.T) {
	tests := map[string]struct {
		implicit bool
		state    string
		change   func(*Cluster)
		after    time.Duration
		inGroup  bool
		reason   Reason
		removed  string
	}{
		"implicit, at once":           {true, "Done", func(*Cluster) {}, 0, true, NoLongerSelected, ""},
		"implicit, settled":           {true, "Done", func(*Cluster) {}, 30 * time.Second, true, NoLongerSelected, ""},
		"implicit, after the grace":   {true, "Done", func(*Cluster) {}, time.Minute, false, NoLongerSelected, "a"},
		"explicit, settled":           {false, "Done", func(*Cluster) {}, 30 * time.Second, true, Complete, ""},
		"explicit, after the grace":   {false, "Old", func(*Cluster) {}, time.Minute, false, NotInPlacement, ""},
		"an old id, hidden":           {true, "Old", func(*Cluster) {}, 30 * time.Second, true, NoLongerSelected, ""},
		"unreachable, done here":      {true, "Done", func(c *Cluster) { c.Unreachable = true }, time.Hour, true, Unreachable, ""},
		"unreachable, never done":     {true, "Progressing", func(c *Cluster) { c.Unreachable, c.Available, c.Work.ID = true, false, "v1" }, time.Hour, true, InProgress, ""},
		"unreachable, done before":    {true, "Old", func(c *Cluster) { c.Unreachable, c.Available = true, false }, time.Hour, false, Unreachable, ""},
		"no target, still decided":    {false, "Done", func(c *Cluster) { c.Selected = false }, time.Minute, false, NoLongerSelected, "a"},
		"no target, unreachable":      {false, "Done", func(c *Cluster) { c.Selected, c.Unreachable = false, true }, time.Hour, true, Unreachable, ""},
		"deleted":                     {true, "Done", func(c *Cluster) { c.Exists = false }, 0, false, NoLongerSelected, "a"},
		"of a lane that is not there": {true, "Done", func(c *Cluster) { c.Work.Place.Lane = "former" }, time.Hour, false, NoLongerSelected, "a"},
		"the work is on its way":      {true, "Done", func(c *Cluster) { c.Work.Deleting = true }, time.Hour, false, NoLongerSelected, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := fleetOf(perGroup("0"), "a dev "+tt.state, "z stg Done")
			in.Source.ImplicitTargets = tt.implicit
			tt.change(in.cluster(t, "a"))
			in.Absent = Plan(in, testNow.Add(-time.Hour)).Absent
			if len(in.Absent) > 0 && in.cluster(t, "a").Selected {
				t.Fatalf("timers run for what is there: %v", in.Absent)
			}
			in.Absent = nil
			without(&in, testNow, "a")
			in.Absent = Plan(in, testNow).Absent
			now := testNow.Add(tt.after)
			r := Plan(in, now)
			if removed(r) != tt.removed {
				t.Fatalf("removed %q, want %q", removed(r), tt.removed)
			}
			got := row(t, r, "a")
			if got.InLane != tt.inGroup || got.Reason != tt.reason {
				t.Errorf("in a group %v, %s %s; want %v, %s", got.InLane, got.Reason, got.Sentence, tt.inGroup, tt.reason)
			}
			if tt.inGroup != (len(r.Lanes[0].Groups) == 2) {
				t.Errorf("groups %+v", r.Lanes[0].Groups)
			}
		})
	}
}

// TestAbsenceStartsAnew: what interrupts the belief in an absence starts its time anew.
func TestAbsenceStartsAnew(t *testing.T) {
	tests := map[string]func(*Input){
		"a taint": func(in *Input) { in.Clusters[0].Unreachable = true },
		"a block": func(in *Input) { in.Blocks = []Hold{{BindingMissing, "x"}} },
		"it was there again": func(in *Input) {
			show(in, testNow.Add(30*time.Second), map[string]GroupKey{"a": {"dev", 0}, "z": {"stg", 0}})
		},
		"an inconsistent snapshot": func(in *Input) {
			in.Views["app/fleet"] = Observe(in.Views["app/fleet"], Snapshot{Found: true, Inconsistent: "x"}, 0, testNow.Add(30*time.Second))
		},
	}
	for name, interrupt := range tests {
		t.Run(name, func(t *testing.T) {
			in := fleetOf(perGroup("0"), "a dev Done", "z stg Done")
			in.Source.ImplicitTargets = true
			without(&in, testNow, "a")
			in.Absent = Plan(in, testNow).Absent
			again := in
			again.Clusters = append([]Cluster(nil), in.Clusters...)
			again.Views = map[string]*View{"app/fleet": in.Views["app/fleet"]}
			interrupt(&again)
			in.Absent = Plan(again, testNow.Add(30*time.Second)).Absent
			if len(in.Absent) > 0 {
				t.Fatalf("timers go on: %v", in.Absent)
			}
			if r := Plan(in, testNow.Add(60*time.Second)); removed(r) != "" {
				t.Errorf("removed %s", removed(r))
			}
		})
	}
}

// TestLanes: the last lane that decides a cluster has it. It moves to a later lane
// when that is settled, to an earlier one when its absence is confirmed.
func TestLanes(t *testing.T) {
	lanes := []LaneSpec{{Name: "one", Placement: "app/one", Strategy: Strategy{Type: All}}, {Name: "two", Placement: "app/two", Strategy: Strategy{Type: All}}}
	at := func(where ...string) Snapshot {
		s := Snapshot{Found: true, Where: map[string]GroupKey{}, Groups: []GroupKey{{"g", 0}}}
		for _, name := range where {
			s.Where[name] = GroupKey{Name: "g"}
		}
		return s
	}
	in := Input{Revision: "v2", RemovalGrace: time.Minute, Source: Source{Name: "RolloutPolicy/p", Lanes: lanes}}
	one := Observe(nil, at("a"), testSettle, epoch)
	two := Observe(nil, at("a"), testSettle, epoch)
	in.Clusters = []Cluster{clusterIn("a", Place{"two", GroupKey{Name: "g"}}, "Done")}
	in.Clusters[0].Work.MinSuccessTime = 0
	lane := func(two *View, now time.Time) (string, Result) {
		in.Views = map[string]*View{"app/one": one, "app/two": two}
		r := Plan(in, now)
		in.Absent = r.Absent
		return row(t, r, "a").Place.Lane, r
	}
	if got, _ := lane(two, testNow); got != "two" {
		t.Errorf("stands in %s although both decide it", got)
	}
	two = Observe(two, at(), testSettle, testNow)
	for _, after := range []time.Duration{0, 11 * time.Second, 59 * time.Second} {
		if got, r := lane(two, testNow.Add(after)); got != "two" || len(r.Refresh) > 0 {
			t.Errorf("after %v it stands in %s", after, got)
		}
	}
	got, r := lane(two, testNow.Add(time.Minute))
	if got != "one" || len(r.Refresh) != 1 || r.Refresh[0].Place.Lane != "one" {
		t.Errorf("after the grace it stands in %s: %v", got, r.Refresh)
	}
	in.Clusters[0].Work.Place.Lane = "one"
	back := testNow.Add(time.Hour)
	two = Observe(two, at("a"), testSettle, back)
	if got, _ := lane(two, back.Add(9*time.Second)); got != "one" {
		t.Errorf("moved to %s before the settle time", got)
	}
	if got, _ := lane(two, back.Add(10*time.Second)); got != "two" {
		t.Errorf("in %s after the settle time", got)
	}
}

// TestRememberedGroup: a member whose group is gone belongs to the last of that name,
// and one of a name that is gone stands before all others.
func TestRememberedGroup(t *testing.T) {
	in := fleetOf(perGroup("0"), "a dev Done", "b stg -")
	in.Clusters = append(in.Clusters,
		clusterIn("c", Place{"fleet", GroupKey{"dev", 3}}, "Progressing"), clusterIn("d", Place{"fleet", GroupKey{"former", 1}}, "Done"))
	r := Plan(in, testNow)
	if got := row(t, r, "c").Place.GroupKey; got != (GroupKey{"dev", 0}) {
		t.Errorf("c stands in %v", got)
	}
	var order []string
	for _, g := range r.Lanes[0].Groups {
		order = append(order, g.Label())
	}
	if got := strings.Join(order, " "); got != "former[1] dev stg" {
		t.Errorf("groups %s", got)
	}
	if admitted(r) != "" {
		t.Errorf("admitted %s", admitted(r))
	}
}

// TestHeldLaneRemovesNothing: a lane that is held holds its removals too, of deleted
// clusters as well, and the other lanes go on.
func TestHeldLaneRemovesNothing(t *testing.T) {
	in := fleetOf(perGroup("0", "canary"), "a dev Done", "b dev Done", "c dev -")
	in.Source.Lanes = append(in.Source.Lanes, LaneSpec{Name: "other", Placement: "app/other", Strategy: Strategy{Type: All}})
	in.Views["app/other"] = Observe(nil, Snapshot{Found: true, Where: map[string]GroupKey{"x": {}}, Groups: []GroupKey{{}}}, testSettle, epoch)
	in.Clusters = append(in.Clusters, clusterIn("x", Place{}, "-"), clusterIn("y", Place{"other", GroupKey{}}, "Done"))
	in.cluster(t, "a").Selected, in.cluster(t, "b").Exists, in.cluster(t, "y").Exists = false, false, false
	in.Absent = map[string]time.Time{"a": epoch}
	r := Plan(in, testNow)
	if removed(r) != "y" || admitted(r) != "x" || r.Reason != MandatoryGroupMissing {
		t.Errorf("removed %q, admitted %q: %s %s", removed(r), admitted(r), r.Reason, r.Sentence)
	}
}

// TestDeselected: a cluster loses its label or its set a moment before the decisions
// follow. Until that is confirmed the next group does not open, and then it does.
func TestDeselected(t *testing.T) {
	tests := map[string]struct {
		state       string
		unreachable bool
		after       time.Duration
		want        string
	}{
		"under way, at once":           {"Progressing", false, 0, ""},
		"under way, within the grace":  {"Progressing", false, 30 * time.Second, ""},
		"under way, after the grace":   {"Progressing", false, time.Minute, "z"},
		"not admitted, at once":        {"Old", false, 0, ""},
		"done, at once":                {"Done", false, 0, "z"},
		"unreachable, so it was meant": {"Progressing", true, 0, "z"},
	}
	for name, tt := range tests {
		for _, implicit := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				in := fleetOf(perGroup("0"), "a dev "+tt.state, "z stg Old")
				in.Source.ImplicitTargets = implicit
				in.Source.Lanes[0].Strategy.ProgressDeadline = 0
				in.cluster(t, "a").Selected, in.cluster(t, "a").DesiredID = false, ""
				in.cluster(t, "a").Unreachable = tt.unreachable
				in.Absent = Plan(in, testNow).Absent
				r := Plan(in, testNow.Add(tt.after))
				if admitted(r) != tt.want || strings.Contains(removed(r), "z") {
					t.Errorf("admitted %q, removed %q; want %q", admitted(r), removed(r), tt.want)
				}
			})
		}
	}
}
