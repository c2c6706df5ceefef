package rollout

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// defaultLane is the source of a bundle that no policy governs.
func defaultLane() Source {
	return Source{Name: "Default", Lanes: []LaneSpec{{Name: DefaultLane, Strategy: Strategy{Type: All}}}}
}

// TestSourceRecorded: which source a rollout is under from the first plan on.
func TestSourceRecorded(t *testing.T) {
	tests := map[string]struct {
		change func(*Input)
		want   string
		held   bool
	}{
		"the first one in force":                {func(*Input) {}, "RolloutPolicy/main", false},
		"the same one again":                    {func(in *Input) { in.Record.Source = "RolloutPolicy/main" }, "RolloutPolicy/main", false},
		"none while it cannot be used":          {func(in *Input) { in.Source.Hold = &Hold{PolicyMissing, "x"} }, "", true},
		"none while something was not read":     {func(in *Input) { in.Blocks = []Hold{{BindingMissing, "x"}} }, "", true},
		"none while nothing is targeted":        {func(in *Input) { in.Source = Source{Name: "Default", NoTargets: true} }, "", false},
		"another one is not taken":              {func(in *Input) { in.Record.Source = "RolloutPolicy/old" }, "RolloutPolicy/old", true},
		"nor while paused":                      {func(in *Input) { in.Record.Source, in.Pauses = "RolloutPolicy/old", []string{"x"} }, "RolloutPolicy/old", true},
		"partitions of its own are only orders": {func(in *Input) { in.Record.Source, in.Source.Name = "Default", "Bundle" }, "Bundle", false},
		"partitions that go are a change":       {func(in *Input) { in.Record.Source, in.Source.Name = "Bundle", "Default" }, "Bundle", true},
		"no targets any more are a change": {func(in *Input) {
			in.Record.Source, in.Source = "RolloutPolicy/old", Source{Name: "Default", NoTargets: true}
		}, "RolloutPolicy/old", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := fleetOf(perGroup("0"), "a dev -")
			tt.change(&in)
			r := Plan(in, testNow)
			if r.Record.Source != tt.want || (r.Hold != nil) != tt.held {
				t.Errorf("recorded %q, held %v; want %q, %v", r.Record.Source, r.Hold, tt.want, tt.held)
			}
		})
	}
}

// TestSourceChanged: a policy is deleted. Nothing happens until a person confirms the
// new source, for this revision.
func TestSourceChanged(t *testing.T) {
	right := Confirmation{Reason: RolloutSourceChanged, Subject: "Default", Revision: "v2"}
	tests := map[string]struct {
		confirm Confirmation
		want    string
	}{
		"nothing confirmed":      {Confirmation{}, ""},
		"confirmed":              {right, "a b"},
		"another source":         {Confirmation{right.Reason, "RolloutPolicy/other", right.Revision, nil}, ""},
		"another revision":       {Confirmation{right.Reason, right.Subject, "v1", nil}, ""},
		"something else":         {Confirmation{GroupVanished, right.Subject, right.Revision, nil}, ""},
		"no revision, as before": {Confirmation{right.Reason, right.Subject, "", nil}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := fleetOf(perGroup("0"), "a dev Old", "b stg Old", "c stg Done")
			in.Record.Source = "RolloutPolicy/main"
			in.Record.Groups = []RecordedGroup{{Place: Place{"fleet", GroupKey{Name: "dev"}}}}
			in.Record.Cuts = []PartitionCut{{Lane: "fleet"}, {Lane: DefaultLane}}
			in.Source, in.Confirmations = defaultLane(), []Confirmation{tt.confirm}
			in.cluster(t, "c").DesiredShape = "new"
			r := Plan(in, testNow)
			if admitted(r) != tt.want || removed(r) != "" {
				t.Errorf("admitted %q, removed %q; want %q", admitted(r), removed(r), tt.want)
			}
			if tt.want != "" {
				if r.Record.Source != "Default" || len(r.Record.Groups) != 1 || len(r.Record.Cuts) != 1 || r.Record.Cuts[0].Lane != DefaultLane || len(r.Confirm) > 0 {
					t.Errorf("record %+v, still asks for %v", r.Record, r.Confirm)
				}
				if refreshed(r) != "c" || r.Refresh[0].Place.Lane != DefaultLane {
					t.Errorf("the one that is done is not moved: %v", r.Refresh)
				}
				return
			}
			sentence := "the rollout would come under Default instead of RolloutPolicy/main: 3 clusters would follow lane default (All);" +
				" nothing changes until that is confirmed with: fleetctl rollout confirm web -n app"
			if r.Hold == nil || *r.Hold != (Hold{RolloutSourceChanged, sentence}) || refreshed(r) != "" || len(r.Stamp) > 0 {
				t.Errorf("hold %v, refreshed %q, stamped %v", r.Hold, refreshed(r), r.Stamp)
			}
			if diff := cmp.Diff([]ConfirmRequest{{Reason: RolloutSourceChanged, Subject: "Default", Sentence: sentence}}, r.Confirm); diff != "" {
				t.Errorf("asked for (-want +got):\n%s", diff)
			}
			if len(r.Record.Groups) != 1 || len(r.Record.Cuts) != 2 {
				t.Errorf("forgotten before anybody agreed: %+v", r.Record)
			}
		})
	}
}

// TestSourceChangedSentence: it says what would happen.
func TestSourceChangedSentence(t *testing.T) {
	tests := map[string]struct {
		change func(*Input)
		want   string
	}{
		"all at once":     {func(in *Input) { in.Source = defaultLane() }, ": 2 clusters would follow lane default (All);"},
		"another policy":  {func(in *Input) { in.Source.Name = "RolloutPolicy/new" }, ": 2 clusters would follow lane fleet (ProgressivePerGroup);"},
		"what is decided": {func(in *Input) { in.Source.Name, in.Source.ImplicitTargets = "RolloutPolicy/new", true }, ": 2 clusters would follow lane fleet (ProgressivePerGroup);"},
		"partitions": {func(in *Input) {
			in.Source = Source{Name: "Bundle", Lanes: []LaneSpec{{Name: "default", Partitions: &Partitions{}}}}
		}, ": 2 clusters would follow lane default (Partitions);"},
		"nothing targeted": {func(in *Input) { in.Source = Source{Name: "Default", NoTargets: true} },
			": the bundle has no targets of its own and would be removed from 2 clusters;"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := fleetOf(perGroup("0"), "a dev Done", "b stg Done")
			if name == "what is decided" {
				in.Clusters = append(in.Clusters, clusterIn("z", Place{}, "-"))
			}
			in.Record.Source = "RolloutPolicy/main"
			tt.change(&in)
			if r := Plan(in, testNow); !strings.Contains(r.Sentence, tt.want) || r.Counts.Total < 2 {
				t.Errorf("%s (%d counted), want %s", r.Sentence, r.Counts.Total, tt.want)
			}
		})
	}
}

// TestForeignTermsDoNotCount: while a source is not confirmed, its soaks and deadlines
// are nobody's.
func TestForeignTermsDoNotCount(t *testing.T) {
	in := fleetOf(perGroup("0"), "a dev Soaking", "b dev Progressing", "c dev Recovering")
	in.Record.Source = "RolloutPolicy/old"
	in.Source.Lanes[0].Strategy.MinSuccessTime, in.Source.Lanes[0].Strategy.ProgressDeadline = 0, time.Second
	r := Plan(in, testNow)
	if got := r.Counts; got != (Counts{Total: 3, Progressing: 1, Soaking: 1, Recovering: 1}) || len(r.Stamp) > 0 {
		t.Errorf("%+v, stamps %v", got, r.Stamp)
	}
}

// TestWorksOfOtherLanes: after a confirmed change the works of lanes that are gone are
// moved where a lane decides them, else removed after the grace if nobody selects them.
func TestWorksOfOtherLanes(t *testing.T) {
	tests := map[string]struct {
		implicit, unreachable, decided bool
		removed, refreshed             string
		reason                         Reason
	}{
		"decided by a lane":          {true, false, true, "", "a", Complete},
		"implicit, decided by none":  {true, false, false, "a", "", NoLongerSelected},
		"explicit, decided by none":  {false, false, false, "", "", Complete},
		"implicit, but unreachable":  {true, true, false, "", "", Unreachable},
		"unreachable, decided still": {true, true, true, "", "a", Complete},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := fleetOf(perGroup("0"), "a dev Done", "z stg Done")
			in.Source.ImplicitTargets = tt.implicit
			in.Record.Source = "RolloutPolicy/old"
			in.Confirmations = []Confirmation{{Reason: RolloutSourceChanged, Subject: "RolloutPolicy/main", Revision: "v2"}}
			a := in.cluster(t, "a")
			a.Work.Place.Lane, a.Unreachable = "former", tt.unreachable
			if !tt.decided {
				without(&in, testNow.Add(-time.Hour), "a")
			}
			first := Plan(in, testNow)
			if removed(first) != "" {
				t.Errorf("removed %q before the grace", removed(first))
			}
			in.Absent, in.Record = first.Absent, first.Record
			r := Plan(in, testNow.Add(time.Minute))
			if removed(r) != tt.removed || refreshed(r) != tt.refreshed || row(t, r, "a").Reason != tt.reason {
				t.Errorf("removed %q, refreshed %q, %s; want %q, %q, %s", removed(r), refreshed(r), row(t, r, "a").Reason, tt.removed, tt.refreshed, tt.reason)
			}
		})
	}
}
