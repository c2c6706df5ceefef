package rollout

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHolds(t *testing.T) {
	tests := map[string]struct {
		change func(*Input)
		want   Reason
	}{
		"a block":            {func(in *Input) { in.Blocks = []Hold{{TooLarge, "x"}, {BundleInvalid, "y"}} }, TooLarge},
		"a block before all": {func(in *Input) { in.Blocks, in.Source.Hold = []Hold{{TooLarge, "x"}}, &Hold{PolicyMissing, "z"} }, TooLarge},
		"the source":         {func(in *Input) { in.Source.Hold = &Hold{PolicyConflict, "z"} }, PolicyConflict},
		"no view":            {func(in *Input) { in.Views = nil }, PlacementSettling},
		"not found": {func(in *Input) {
			in.Views["app/fleet"] = Observe(in.Views["app/fleet"], Snapshot{}, testSettle, testNow)
		}, PlacementNotFound},
		"inconsistent": {func(in *Input) {
			in.Views["app/fleet"] = Observe(in.Views["app/fleet"], Snapshot{Found: true, Inconsistent: "x"}, testSettle, testNow)
		}, PlacementInconsistent},
		"only just started": {func(in *Input) {
			in.Views["app/fleet"] = Observe(nil, in.Views["app/fleet"].Snapshot, testSettle, testNow.Add(-time.Second))
		}, PlacementSettling},
		"another lane cannot be read": {func(in *Input) {
			in.Source.Lanes = append(in.Source.Lanes, LaneSpec{Name: "other", Placement: "app/other", Strategy: Strategy{Type: All}})
			in.Views["app/other"] = Observe(nil, Snapshot{}, testSettle, epoch)
		}, PlacementNotFound},
		"a pause":               {func(in *Input) { in.Pauses = []string{"the Rollout"} }, Paused},
		"a paused policy":       {func(in *Input) { in.Source.Paused = "RolloutPolicy p" }, Paused},
		"a hold beside a pause": {func(in *Input) { in.Pauses, in.Blocks = []string{"the Rollout"}, []Hold{{TooLarge, "x"}} }, TooLarge},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := fleetOf(perGroup("0"), "a dev -", "b dev Done", "gone dev Done", "drop dev Done")
			in.cluster(t, "gone").Exists = false
			in.cluster(t, "drop").Selected = false
			in.cluster(t, "b").DesiredShape = "other"
			in.Absent = map[string]time.Time{"drop": epoch}
			free := Plan(in, testNow)
			if admitted(free) != "a" || removed(free) != "drop gone" || refreshed(free) != "b" {
				t.Fatalf("not held: %+v", free)
			}
			tt.change(&in)
			r := Plan(in, testNow)
			if r.Hold == nil || r.Hold.Reason != tt.want || r.Reason != tt.want || r.Sentence != r.Hold.Sentence {
				t.Fatalf("hold %v, reason %s; want %s", r.Hold, r.Reason, tt.want)
			}
			if tt.want == PlacementInconsistent && r.RecheckAfter != time.Second {
				t.Errorf("looked at again after %v", r.RecheckAfter)
			}
			wantRefresh := ""
			if tt.want == Paused {
				wantRefresh = "b"
			}
			if admitted(r) != "" || removed(r) != "" || refreshed(r) != wantRefresh {
				t.Errorf("admit %q, remove %q, refresh %q while held", admitted(r), removed(r), refreshed(r))
			}
			if got := row(t, r, "a").Reason; got != tt.want {
				t.Errorf("the waiting cluster says %s", got)
			}
		})
	}
}

// TestRenderFailedCountsOnceOpen: a cluster of a closed group that cannot be rendered
// stops nobody before its turn.
func TestRenderFailedCountsOnceOpen(t *testing.T) {
	in := fleetOf(perGroup("0"), "a dev -", "b stg Old", "c stg Old")
	in.cluster(t, "b").RenderError = "bad template"
	if r := Plan(in, testNow); admitted(r) != "a" || r.Breached {
		t.Errorf("admitted %q: %s", admitted(r), r.Sentence)
	}
	in.Clusters[0] = clusterIn("a", Place{"fleet", GroupKey{Name: "dev"}}, "Done")
	if r := Plan(in, testNow); admitted(r) != "" || r.Reason != FailureBudgetExceeded {
		t.Errorf("admitted %q: %s", admitted(r), r.Sentence)
	}
}

// TestChunks: at most 100 of each action in a plan, and a breach seen after the
// first ones stops the rest.
func TestChunks(t *testing.T) {
	var rows []string
	for i := range 250 {
		rows = append(rows, fmt.Sprintf("c%03d dev Old", i))
	}
	in := fleetOf(perGroup("0"), rows...)
	r := Plan(in, testNow)
	if len(r.Admit) != 100 || r.Admit[0].Cluster != "c000" || r.Admit[99].Cluster != "c099" {
		t.Fatalf("%d admitted", len(r.Admit))
	}
	if got := row(t, r, "c100"); got.Reason != InProgress || !strings.Contains(got.Sentence, "next 100") {
		t.Errorf("the next one: %s %s", got.Reason, got.Sentence)
	}
	in.Clusters[3] = clusterIn("c003", in.Clusters[3].Work.Place, "Failed")
	if r := Plan(in, testNow); len(r.Admit) != 0 || !r.Breached {
		t.Errorf("%d admitted after a failure", len(r.Admit))
	}
	for i := range in.Clusters {
		in.Clusters[i] = clusterIn(in.Clusters[i].Name, in.Clusters[i].Work.Place, "Done")
		in.Clusters[i].DesiredShape = "other"
	}
	if r := Plan(in, testNow); len(r.Refresh) != 100 {
		t.Errorf("%d refreshed", len(r.Refresh))
	}
	for i := range in.Clusters {
		in.Clusters[i].Exists = false
	}
	if r := Plan(in, testNow); len(r.Remove) != 100 {
		t.Errorf("%d removed", len(r.Remove))
	}
}

func TestRefresh(t *testing.T) {
	moved := func(c *Cluster) { c.Work.Place.Name = "old" }
	tests := map[string]struct {
		state  string
		change func(*Cluster)
		want   string
	}{
		"nothing differs":              {"Done", func(*Cluster) {}, ""},
		"another shape":                {"Done", func(c *Cluster) { c.DesiredShape = "x" }, "a"},
		"another soak":                 {"Progressing", func(c *Cluster) { c.Work.MinSuccessTime = time.Hour }, "a"},
		"another group":                {"Failed", moved, "a"},
		"not on an older id":           {"Old", func(c *Cluster) { c.DesiredShape, c.RenderError = "x", "bad" }, ""},
		"not while the work is going":  {"Done", func(c *Cluster) { c.DesiredShape, c.Work.Deleting = "x", true }, ""},
		"not while the add-on is":      {"Done", func(c *Cluster) { c.DesiredShape, c.AddOn = "x", AddOnDeleting }, ""},
		"not without the add-on":       {"Done", func(c *Cluster) { c.DesiredShape, c.AddOn = "x", AddOnMissing }, ""},
		"not what nobody selects":      {"Done", func(c *Cluster) { c.DesiredShape, c.Selected = "x", false }, ""},
		"not what cannot be rendered":  {"Done", func(c *Cluster) { c.DesiredShape, c.RenderError = "x", "bad" }, ""},
		"a new lane is a new standing": {"Done", func(c *Cluster) { c.Work.Place.Lane, c.Work.Stamps.MemberSince = "before", testNow }, "a"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := fleetOf(perGroup("0"), "a dev "+tt.state)
			tt.change(in.cluster(t, "a"))
			r := Plan(in, testNow)
			if refreshed(r) != tt.want {
				t.Fatalf("refreshed %q, want %q", refreshed(r), tt.want)
			}
			if tt.want == "" {
				return
			}
			want := in.Clusters[0].Work.Stamps
			if in.Clusters[0].Work.Place.Lane != "fleet" {
				want.MemberSince = epoch
			}
			if diff := cmp.Diff(Refresh{"a", Place{"fleet", GroupKey{Name: "dev"}}, testSoak, want}, r.Refresh[0]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAdmission(t *testing.T) {
	in := fleetOf(perGroup("0"), "a dev Old", "b dev -")
	in.Clusters[1].Created = epoch.Add(time.Second)
	place := Place{"fleet", GroupKey{Name: "dev"}}
	want := []Admit{
		{"a", place, "v2", "v2", testSoak, Stamps{AdmittedAt: testNow, MemberSince: epoch}},
		{"b", place, "v2", "v2", testSoak, Stamps{AdmittedAt: testNow, MemberSince: epoch.Add(time.Second)}},
	}
	r := Plan(in, testNow)
	if diff := cmp.Diff(want, r.Admit); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(r.Stamp) > 0 {
		t.Errorf("stamps of works that are written anyway: %v", r.Stamp)
	}
	if diff := cmp.Diff([]RecordedGroup{{place, testNow}}, r.Record.Groups); diff != "" {
		t.Errorf("the group was not opened first (-want +got):\n%s", diff)
	}
}

func TestRecord(t *testing.T) {
	in := fleetOf(perGroup("0"), "a dev Done", "b stg Done")
	in.Record.Groups = []RecordedGroup{{Place{"fleet", GroupKey{Name: "stg"}}, epoch}, {Place{"former", GroupKey{Name: "dev"}}, epoch}}
	r := Plan(in, testNow).Record
	want := Record{Revision: "v2", RevisionSince: epoch, CompletedRevision: "v2", Source: "RolloutPolicy/main", Groups: []RecordedGroup{
		{Place{"fleet", GroupKey{Name: "dev"}}, testNow}, {Place{"fleet", GroupKey{Name: "stg"}}, epoch}, {Place{"former", GroupKey{Name: "dev"}}, epoch},
	}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("complete (-want +got):\n%s", diff)
	}
	// Failures that are tolerated let a lane through, but nothing is complete.
	failed := fleetOf(perGroup("100%"), "a dev Failed", "b stg TimedOut")
	if got := Plan(failed, testNow).Record.CompletedRevision; got != "" {
		t.Errorf("%s is complete without a cluster that is Done", got)
	}
	// A new revision while paused closes every group and opens none.
	in.Revision, in.Record, in.Pauses = "v3", r, []string{"the Rollout"}
	for i := range in.Clusters {
		in.Clusters[i].DesiredID = "v3"
	}
	want.Revision, want.RevisionSince, want.PauseSeenAt = "v3", testNow, testNow
	for i := range want.Groups {
		want.Groups[i].OpenedAt = time.Time{}
	}
	paused := Plan(in, testNow).Record
	if diff := cmp.Diff(want, paused); diff != "" {
		t.Errorf("paused (-want +got):\n%s", diff)
	}
	in.Record, in.Pauses = paused, nil
	later := testNow.Add(time.Minute)
	want.PauseSeenAt, want.ResumedAt = time.Time{}, later
	want.Groups[0].OpenedAt = later
	if diff := cmp.Diff(want, Plan(in, later).Record); diff != "" {
		t.Errorf("resumed (-want +got):\n%s", diff)
	}
}

func TestDefaultLane(t *testing.T) {
	in := Input{Revision: "v2", RemovalGrace: time.Minute, Source: Source{Name: "Default", Lanes: []LaneSpec{{Name: DefaultLane, Strategy: Strategy{Type: All}}}}}
	in.Clusters = []Cluster{clusterIn("a", Place{}, "-"), clusterIn("b", Place{DefaultLane, GroupKey{Name: DefaultGroup}}, "Failed"), clusterIn("c", Place{}, "-")}
	in.Clusters[2].Selected = false
	r := Plan(in, testNow)
	if admitted(r) != "a" || r.Admit[0].Place != (Place{DefaultLane, GroupKey{Name: DefaultGroup}}) || r.Admit[0].MinSuccessTime != 0 || len(r.Clusters) != 2 {
		t.Errorf("%+v", r)
	}
	if r := Plan(Input{Source: Source{Name: "Default", NoTargets: true}}, testNow); r.Reason != NoClusters || r.Complete || !strings.Contains(r.Sentence, "no targets") {
		t.Errorf("%s %s", r.Reason, r.Sentence)
	}
}
