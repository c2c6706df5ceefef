package rollout

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// recorded makes groups of lane fleet that had members.
func recorded(names ...string) []RecordedGroup {
	var out []RecordedGroup
	for _, name := range names {
		out = append(out, RecordedGroup{Place: Place{"fleet", GroupKey{Name: name}}})
	}
	return out
}

// TestGroupVanished: the lane of a group that had members waits for a person.
func TestGroupVanished(t *testing.T) {
	tests := map[string]struct {
		had     []RecordedGroup
		confirm Confirmation
		change  func(*Input)
		asked   string
		reason  Reason
		left    string
	}{
		"all are there":          {recorded("dev", "stg"), Confirmation{}, nil, "", InProgress, "dev stg"},
		"one is gone":            {recorded("dev", "qa", "stg"), Confirmation{}, nil, "fleet/qa", GroupVanished, "dev qa stg"},
		"two are gone":           {recorded("canary", "qa"), Confirmation{}, nil, "fleet/canary fleet/qa", GroupVanished, "canary dev qa stg"},
		"the unmatched are gone": {recorded("", "dev"), Confirmation{}, nil, "", InProgress, " dev stg"},
		"the unmatched and a named one are gone": {
			recorded("", "qa"), Confirmation{}, nil, "fleet/qa", GroupVanished, " dev qa stg",
		},
		"one of several of a name is there": {
			[]RecordedGroup{{Place: Place{"fleet", GroupKey{"dev", 1}}}}, Confirmation{}, nil, "", InProgress, "dev dev stg",
		},
		"confirmed":           {recorded("dev", "qa"), Confirmation{GroupVanished, "fleet/qa", "v2", nil}, nil, "", InProgress, "dev stg"},
		"another confirmed":   {recorded("canary", "qa"), Confirmation{GroupVanished, "fleet/qa", "v2", nil}, nil, "fleet/canary", GroupVanished, "canary dev stg"},
		"of another revision": {recorded("qa"), Confirmation{GroupVanished, "fleet/qa", "v1", nil}, nil, "fleet/qa", GroupVanished, "dev qa stg"},
		"one that is there is not forgotten": {
			recorded("dev"), Confirmation{GroupVanished, "fleet/dev", "v2", nil}, nil, "", InProgress, "dev stg",
		},
		"a mandatory group that is missing comes first": {recorded("canary"), Confirmation{}, func(in *Input) {
			in.Source.Lanes[0].Strategy.Mandatory = []MandatoryGroup{{Name: "canary"}}
		}, "", MandatoryGroupMissing, "canary dev stg"},
		"nobody knows while held": {recorded("qa"), Confirmation{GroupVanished, "fleet/qa", "v2", nil}, func(in *Input) {
			in.Blocks = []Hold{{BundleInvalid, "x"}}
		}, "", BundleInvalid, "qa"},
		"asked while paused too": {recorded("qa"), Confirmation{}, func(in *Input) { in.Pauses = []string{"x"} }, "fleet/qa", Paused, "dev qa stg"},
		"a lane that is not there asks for nothing": {
			[]RecordedGroup{{Place: Place{"former", GroupKey{Name: "qa"}}}}, Confirmation{}, nil, "", InProgress, "dev stg qa",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := fleetOf(perGroup("0"), "a dev Old", "b stg Done", "z stg Done")
			in.Record.Groups, in.Confirmations = tt.had, []Confirmation{tt.confirm}
			in.cluster(t, "z").DesiredShape = "new"
			if tt.change != nil {
				tt.change(&in)
			}
			r := Plan(in, testNow)
			var asked, left []string
			for _, c := range r.Confirm {
				asked = append(asked, c.Subject)
			}
			for _, g := range r.Record.Groups {
				left = append(left, g.Name)
			}
			if strings.Join(asked, " ") != tt.asked || r.Reason != tt.reason || strings.Join(left, " ") != tt.left {
				t.Errorf("asked %q, %s, recorded %q; want %q, %s, %q", asked, r.Reason, left, tt.asked, tt.reason, tt.left)
			}
			if free := tt.reason == InProgress; (admitted(r) == "a") != free || (refreshed(r) == "z") != (free || tt.reason == Paused && tt.asked == "") {
				t.Errorf("admitted %q, refreshed %q", admitted(r), refreshed(r))
			}
		})
	}
}

// TestGroupVanishedIsToldAndRemoves: what the lane says, and that a removal whose
// absence is confirmed goes on.
func TestGroupVanishedIsToldAndRemoves(t *testing.T) {
	in := fleetOf(perGroup("0"), "a dev Old", "b stg Done", "c prod Done", "d prod Done")
	in.cluster(t, "b").Selected = false
	in.Absent = map[string]time.Time{"b": epoch}
	in.Record.Groups = recorded("dev", "prod", "stg")
	r := Plan(in, testNow)
	want := Hold{GroupVanished, "group stg of Placement app/fleet had clusters and has none now: lane fleet is held until it has some again," +
		" or until that is confirmed with: fleetctl rollout confirm web -n app"}
	if removed(r) != "b" || admitted(r) != "" || r.Hold != nil || r.Record.CompletedRevision != "" {
		t.Errorf("removed %q, admitted %q, hold %v, completed %q", removed(r), admitted(r), r.Hold, r.Record.CompletedRevision)
	}
	if diff := cmp.Diff(&want, r.Lanes[0].Hold); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := row(t, r, "a"); got.Reason != want.Reason || got.Sentence != want.Sentence || r.Sentence != want.Sentence {
		t.Errorf("%s %s, rollout %s", got.Reason, got.Sentence, r.Sentence)
	}
}

// TestOtherLanesGoOn: a group that vanished holds its own lane only.
func TestOtherLanesGoOn(t *testing.T) {
	in := fleetOf(perGroup("0"), "a dev Old")
	in.Source.Lanes = append(in.Source.Lanes, LaneSpec{Name: "other", Placement: "app/other", Strategy: Strategy{Type: All}})
	in.Views["app/other"] = Observe(nil, Snapshot{Found: true, Where: map[string]GroupKey{"x": {}}, Groups: []GroupKey{{}}}, testSettle, epoch)
	in.Clusters = append(in.Clusters, clusterIn("x", Place{}, "-"))
	in.Record.Groups = recorded("qa")
	if r := Plan(in, testNow); admitted(r) != "x" || r.Reason != GroupVanished {
		t.Errorf("admitted %q: %s", admitted(r), r.Sentence)
	}
}
