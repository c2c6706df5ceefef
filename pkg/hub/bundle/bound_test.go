package bundle

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// far is a rollout over 10,000 clusters in 1,000 groups.
type far struct {
	// name of a group and of a cluster, cluster 0 to 9 of the group.
	group   func(int) string
	cluster func(group, n int) string
	lane    string
	// passed and open groups are the first ones; all others are closed.
	passed, open int
	// words of every sentence.
	words   int
	confirm []rollout.ConfirmRequest
	hold    *rollout.Hold
}

const farGroups = 1000

func (f far) plan() *rollout.Result {
	sentence := strings.Repeat("x", f.words)
	plan := &rollout.Result{Reason: rollout.WaitingForGroup, Sentence: sentence, Confirm: f.confirm, Hold: f.hold}
	plan.Record.Revision, plan.Record.RevisionSince = "0123456789", noon
	lane := rollout.LaneResult{Name: f.lane, Type: string(rollout.ProgressivePerGroup)}
	for i := range farGroups {
		key := rollout.GroupKey{Name: f.group(i)}
		g := rollout.GroupResult{
			GroupKey: key, MaxFailures: 1, MaxConcurrency: 5, InFlight: 5, MaxUnavailable: 5, Unavailable: 5,
			MinSuccessTime: 30 * time.Minute, ProgressDeadline: time.Hour,
			Counts: rollout.Counts{Total: 10}, Sentence: sentence,
		}
		recorded := rollout.RecordedGroup{Place: rollout.Place{Lane: f.lane, GroupKey: key}}
		for n := range 10 {
			name := f.cluster(i, n)
			plan.Clusters = append(plan.Clusters, rollout.ClusterResult{
				Name: name, Place: recorded.Place, InLane: true, Selected: true, State: rollout.Progressing,
				Reason: rollout.NotReady, Sentence: sentence,
			})
			if i >= f.passed {
				g.Holding, g.Next = append(g.Holding, name), append(g.Next, name)
			}
		}
		switch {
		case i < f.passed:
			g.Open, g.Passed, g.Counts.Done, g.Reason = true, true, 10, rollout.Complete
		case i < f.passed+f.open:
			g.Open, g.Counts.Progressing, g.Reason, g.NextAt = true, 10, rollout.NotReady, noon
		default:
			g.Counts.Pending, g.Reason = 10, rollout.WaitingForGroup
		}
		if g.Open {
			recorded.OpenedAt, g.OpenedAt = noon.Add(123*time.Microsecond), noon
		}
		plan.Record.Groups = append(plan.Record.Groups, recorded)
		lane.Groups = append(lane.Groups, g)
	}
	plan.Lanes = []rollout.LaneResult{lane}
	return plan
}

func shortGroup(i int) string        { return fmt.Sprintf("group-%04d", i) }
func longGroup(i int) string         { return fmt.Sprintf("group-%057d", i) }
func shortCluster(g, n int) string   { return fmt.Sprintf("cluster-%04d-%d", g, n) }
func longCluster(g, n int) string    { return fmt.Sprintf("cluster-%053d-%d", g, n) }
func longestCluster(g, n int) string { return fmt.Sprintf("cluster-%0243d-%d", g, n) }

// requests asks for the removal of 500 clusters, and for many groups that vanished.
func requests(groups int, cluster func(g, n int) string) []rollout.ConfirmRequest {
	guard := rollout.ConfirmRequest{Reason: rollout.RemovalGuard, Sentence: strings.Repeat("y", 2000)}
	for i := range 600 {
		guard.Clusters = append(guard.Clusters, cluster(i/10, i%10))
	}
	out := []rollout.ConfirmRequest{guard}
	for i := range groups {
		out = append(out, rollout.ConfirmRequest{
			Reason: rollout.GroupVanished, Subject: "lane/" + longGroup(i), Sentence: strings.Repeat("y", 2000),
		})
	}
	return out
}

func TestTheStatusOf10000ClustersIn1000Groups(t *testing.T) {
	const short, long = "dev-stg-prod", "a-placement-with-a-name-that-is-as-long-as-a-label-is-allowed-to"
	tests := map[string]struct {
		far far
		// wantGroups are shown at least.
		wantGroups int
		// wantHeld is true when the clusters that hold the rollout back have to be named.
		wantHeld bool
	}{
		"at its start":                 {far{group: shortGroup, cluster: shortCluster, lane: short, open: 1, words: 150}, 1000, true},
		"half way":                     {far{group: shortGroup, cluster: shortCluster, lane: short, passed: 500, open: 1, words: 150}, 1000, true},
		"complete":                     {far{group: shortGroup, cluster: shortCluster, lane: short, passed: 1000, words: 150}, 1000, false},
		"every group open":             {far{group: shortGroup, cluster: shortCluster, lane: short, open: 1000, words: 150}, 250, false},
		"half way with long names":     {far{group: longGroup, cluster: longCluster, lane: short, passed: 500, open: 1, words: 1000}, 200, true},
		"complete with long names":     {far{group: longGroup, cluster: longCluster, lane: short, passed: 1000, words: 1000}, 300, false},
		"all open with long names":     {far{group: longGroup, cluster: longestCluster, lane: short, open: 1000, words: 1000}, 100, false},
		"500 names to confirm":         {far{group: shortGroup, cluster: longCluster, lane: short, passed: 500, open: 1, words: 1000, confirm: requests(0, longCluster)}, 500, true},
		"500 names, long group names":  {far{group: longGroup, cluster: longCluster, lane: short, passed: 500, open: 1, words: 1000, confirm: requests(0, longCluster)}, 1, false},
		"500 of the longest names":     {far{group: longGroup, cluster: longestCluster, lane: long, passed: 500, open: 1, words: 1000, confirm: requests(0, longestCluster)}, 1, false},
		"64 confirmations":             {far{group: longGroup, cluster: longCluster, lane: short, passed: 500, open: 1, words: 1000, confirm: requests(70, longCluster)}, 100, false},
		"a record that is nearly all":  {far{group: longGroup, cluster: longCluster, lane: long, passed: 900, open: 1, words: 1000}, 0, false},
		"held with a sentence of 1 KB": {far{group: shortGroup, cluster: shortCluster, lane: short, passed: 500, words: 1000, hold: &rollout.Hold{Reason: rollout.Paused, Sentence: strings.Repeat("z", 1000)}}, 1000, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			plan := tt.far.plan()
			f := factsOf()
			q := &question{matched: true, input: rollout.Input{Revision: "0123456789"}}
			got := rolloutStatus(v1alpha1.RolloutStatus{}, 1, f, q, plan)
			data, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			shown := len(got.Lanes[0].Groups)
			t.Logf("%d bytes, the record %d; %d groups", len(data), sizeOf(got.Record), shown)
			if len(data) > maxStatus {
				t.Errorf("the status has %d bytes, at most %d are allowed", len(data), maxStatus)
			}
			if shown < tt.wantGroups {
				t.Errorf("%d groups are shown, want at least %d", shown, tt.wantGroups)
			}
			if n := shown + int(got.Lanes[0].GroupsOmitted); n != farGroups {
				t.Errorf("%d groups shown and omitted, want %d", n, farGroups)
			}
			checkWhole(t, &got, plan, tt.wantHeld)
			f.now = noon.Add(time.Hour)
			if again := rolloutStatus(got, 1, f, q, plan); !equality.Semantic.DeepEqual(got, again) {
				t.Errorf("a second look changes the status:\n%s", cmp.Diff(got, again))
			}
			if kept := rolloutStatus(got, 1, f, &question{input: q.input}, plan); !equality.Semantic.DeepEqual(got.Lanes, kept.Lanes) {
				t.Errorf("a bundle that cannot be read changes the lanes:\n%s", cmp.Diff(got.Lanes, kept.Lanes))
			}
		})
	}
}

// checkWhole checks what has to be in a status however large it is.
func checkWhole(t *testing.T, got *v1alpha1.RolloutStatus, plan *rollout.Result, wantHeld bool) {
	t.Helper()
	if len(got.Record.Groups) != farGroups {
		t.Errorf("the record has %d groups, want all", len(got.Record.Groups))
	}
	named, next, current := 0, 0, false
	for _, g := range got.Lanes[0].Groups {
		named, next = named+len(g.Clusters), next+len(g.NextClusters)
		current = current || (g.Open && !g.Passed && len(g.Clusters) == 10)
	}
	if named > maxHeld || next > maxNext {
		t.Errorf("%d clusters named as held and %d as next", named, next)
	}
	if wantHeld && !current {
		t.Error("the clusters that hold the rollout back are not named")
	}
	if len(got.Confirmations) != min(len(plan.Confirm), maxConfirmations) {
		t.Errorf("%d confirmations, want %d", len(got.Confirmations), len(plan.Confirm))
	}
	for _, c := range got.Confirmations {
		if c.Reason == v1alpha1.ConfirmRemovals && (len(c.Clusters) < minConfirmClusters || len(c.Clusters) > maxConfirmClusters || c.Total != 600) {
			t.Errorf("%d clusters of %d to confirm", len(c.Clusters), c.Total)
		}
		if c.Message == "" || len(c.Message) > maxMessage {
			t.Errorf("a confirmation with a message of %d bytes", len(c.Message))
		}
	}
}

func TestWhatGroupsSay(t *testing.T) {
	group := func(name string, change func(*rollout.GroupResult)) rollout.GroupResult {
		g := rollout.GroupResult{GroupKey: rollout.GroupKey{Name: name}, MaxConcurrency: -1, MaxUnavailable: -1, Sentence: "about " + name}
		change(&g)
		return g
	}
	passed := group("passed", func(g *rollout.GroupResult) { g.Open, g.Passed, g.Counts.Done = true, true, 2 })
	tolerated := group("tolerated", func(g *rollout.GroupResult) { g.Open, g.Passed, g.Counts.Failed = true, true, 1 })
	open := group("open", func(g *rollout.GroupResult) { g.Open = true })
	breached := group("breached", func(g *rollout.GroupResult) { g.Open, g.Breached = true, true })
	closed, later := group("closed", func(*rollout.GroupResult) {}), group("later", func(*rollout.GroupResult) {})
	hold := &rollout.Hold{Reason: rollout.GroupVanished, Sentence: "it vanished"}
	tests := map[string]struct {
		plan *rollout.Result
		want map[string]string
	}{
		"one that passed says nothing, with failures it does": {
			lanesWith(nil, passed, tolerated), map[string]string{"passed": "", "tolerated": "about tolerated"}},
		"of those that are closed the first one says why": {
			lanesWith(nil, open, closed, later), map[string]string{"open": "about open", "closed": "about closed", "later": ""}},
		"a breach is always told": {
			lanesWith(nil, breached, closed), map[string]string{"breached": "about breached", "closed": "about closed"}},
		"a lane that is held says it itself": {
			lanesWith(hold, breached, closed, later), map[string]string{"breached": "about breached", "closed": "", "later": ""}},
		"so does a rollout": {
			held(lanesWith(nil, passed, closed), rollout.Paused), map[string]string{"passed": "", "closed": ""}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			lane := lanesOf(tt.plan)[0]
			got := map[string]string{}
			for _, g := range lane.Groups {
				got[g.Name] = g.Message
				if g.MaxConcurrency != nil || g.MaxUnavailable != nil {
					t.Errorf("group %s shows a limit that there is not", g.Name)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if hold := tt.plan.Lanes[0].Hold; hold != nil && (lane.Reason != string(hold.Reason) || lane.Message != hold.Sentence) {
				t.Errorf("the lane says %s %q", lane.Reason, lane.Message)
			}
		})
	}
}

func lanesWith(hold *rollout.Hold, groups ...rollout.GroupResult) *rollout.Result {
	return &rollout.Result{Lanes: []rollout.LaneResult{{Name: "l", Hold: hold, Groups: groups}}}
}
