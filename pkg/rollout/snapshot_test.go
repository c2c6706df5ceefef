package rollout

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// placed is a Placement whose status fits the decisions.
func placed(declared []string, decisions ...*clusterv1beta1.PlacementDecision) (*clusterv1beta1.Placement, []*clusterv1beta1.PlacementDecision) {
	p := &clusterv1beta1.Placement{}
	for _, name := range declared {
		p.Spec.DecisionStrategy.GroupStrategy.DecisionGroups = append(p.Spec.DecisionStrategy.GroupStrategy.DecisionGroups, clusterv1beta1.DecisionGroup{GroupName: name})
	}
	p.Status.Conditions = []metav1.Condition{{Type: clusterv1beta1.PlacementConditionSatisfied}}
	for _, d := range decisions {
		p.Status.DecisionGroups = append(p.Status.DecisionGroups, clusterv1beta1.DecisionGroupStatus{
			DecisionGroupName: d.Labels[clusterv1beta1.DecisionGroupNameLabel], Decisions: []string{d.Name}, ClustersCount: int32(len(d.Status.Decisions)),
		})
	}
	return p, decisions
}

func TestNewSnapshotConsistency(t *testing.T) {
	type decisions = []*clusterv1beta1.PlacementDecision
	tests := map[string]struct {
		change func(*clusterv1beta1.Placement, decisions) decisions
		want   string
	}{
		"as it should be": {func(_ *clusterv1beta1.Placement, d decisions) decisions { return d }, ""},
		"a decision without an index": {func(_ *clusterv1beta1.Placement, d decisions) decisions {
			delete(d[0].Labels, clusterv1beta1.DecisionGroupIndexLabel)
			return d
		}, "decision d1 has no group index"},
		"an index that is no number": {func(_ *clusterv1beta1.Placement, d decisions) decisions {
			d[0].Labels[clusterv1beta1.DecisionGroupIndexLabel] = "x"
			return d
		}, "decision d1 has no group index"},
		"an index with two names": {func(_ *clusterv1beta1.Placement, d decisions) decisions {
			d[1].Labels[clusterv1beta1.DecisionGroupIndexLabel] = "0"
			return d
		}, `group index 0 has two names, "dev" and "stg"`},
		"a cluster that stands twice": {func(_ *clusterv1beta1.Placement, d decisions) decisions {
			d[1].Status.Decisions[0].ClusterName = "a1"
			return d
		}, "cluster a1 is decided twice"},
		"a decision that the status does not name": {func(p *clusterv1beta1.Placement, d decisions) decisions {
			p.Status.DecisionGroups[1].Decisions = []string{"d7"}
			return d
		}, "group stg has decisions [d2], the Placement's status says [d7]"},
		"a decision that is missing": {func(_ *clusterv1beta1.Placement, d decisions) decisions { return d[:1] },
			"group stg has decisions [], the Placement's status says [d2]"},
		"a group that the status does not have": {func(p *clusterv1beta1.Placement, d decisions) decisions {
			p.Status.DecisionGroups = p.Status.DecisionGroups[:1]
			return d
		}, "group stg has decisions [d2], the Placement's status says []"},
		"another number of clusters": {func(_ *clusterv1beta1.Placement, d decisions) decisions {
			d[0].Status.Decisions = d[0].Status.Decisions[:1]
			return d
		}, "group dev has 1 clusters, the Placement's status says 2"},
		"a cluster under its old group": {func(_ *clusterv1beta1.Placement, d decisions) decisions {
			d[1].Labels[clusterv1beta1.DecisionGroupNameLabel] = "dev"
			return d
		}, "group dev has decisions [d1 d2], the Placement's status says [d1]"},
		"never scheduled": {func(p *clusterv1beta1.Placement, _ decisions) decisions {
			p.Status = clusterv1beta1.PlacementStatus{}
			return nil
		}, "the Placement has no status yet"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, d := placed([]string{"dev", "stg"}, decision("d1", 0, "dev", "a1", "a2"), decision("d2", 1, "stg", "b1"))
			d = tt.change(p, d)
			for range 2 {
				if got := NewSnapshot(p, d).Inconsistent; got != tt.want {
					t.Errorf("inconsistent: %q, want %q", got, tt.want)
				}
				slices.Reverse(d)
			}
		})
	}
	if NewSnapshot(nil, nil).Found {
		t.Error("a missing Placement was found")
	}
}

// TestNewSnapshotGroups: identity by name and place, declared order, an undeclared
// name first, the unnamed rest last, gaps, and declared groups without clusters.
func TestNewSnapshotGroups(t *testing.T) {
	p, d := placed([]string{"dev", "none", "stg"},
		decision("d1", 0, "stg", "s1"), decision("d2", 1, "", "x1"), decision("d3", 3, "dev", "a1"), decision("d4", 5, "dev", "a2"),
		decision("d5", 6, "gone", "g1"), decision("d6", 7, "", "x2"), decision("d7", 8, "none"))
	s := NewSnapshot(p, d)
	if s.Inconsistent != "" {
		t.Fatal(s.Inconsistent)
	}
	want := []GroupKey{{"gone", 0}, {"dev", 0}, {"dev", 1}, {"stg", 0}, {"", 0}, {"", 1}}
	if diff := cmp.Diff(want, s.Groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	where := map[string]GroupKey{"s1": {"stg", 0}, "x1": {"", 0}, "x2": {"", 1}, "a1": {"dev", 0}, "a2": {"dev", 1}, "g1": {"gone", 0}}
	if diff := cmp.Diff(where, s.Where); diff != "" {
		t.Errorf("where (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"none"}, s.Empty); diff != "" {
		t.Errorf("empty (-want +got):\n%s", diff)
	}
	if s.Indexes[GroupKey{"dev", 1}] != 5 {
		t.Errorf("index of dev[1]: %d", s.Indexes[GroupKey{"dev", 1}])
	}
}

// TestObserve follows one cluster through snapshots; "" is in none, "?" an
// inconsistent one. Settle time is 10 s.
func TestObserve(t *testing.T) {
	type step struct {
		at   int
		show string
	}
	tests := map[string]struct {
		steps []step
		at    int
		want  string
	}{
		"nothing counts before the settle time":       {[]step{{0, "dev"}}, 9, ""},
		"the first snapshot counts after it":          {[]step{{0, "dev"}}, 10, "dev"},
		"coming does not count at once":               {[]step{{0, ""}, {100, "dev"}}, 109, ""},
		"coming counts":                               {[]step{{0, ""}, {100, "dev"}}, 110, "dev"},
		"leaving does not count at once":              {[]step{{0, "dev"}, {100, ""}}, 109, "dev"},
		"leaving counts":                              {[]step{{0, "dev"}, {100, ""}}, 110, ""},
		"moving does not count at once":               {[]step{{0, "dev"}, {100, "stg"}}, 109, "dev"},
		"moving counts":                               {[]step{{0, "dev"}, {100, "stg"}}, 110, "stg"},
		"away for a second and back":                  {[]step{{0, "dev"}, {100, ""}, {101, "dev"}}, 200, "dev"},
		"more snapshots that agree do not start anew": {[]step{{0, "dev"}, {100, "stg"}, {105, "stg"}}, 110, "stg"},
		"back and forth never counts":                 {[]step{{0, "dev"}, {100, "stg"}, {105, "dev"}, {109, "stg"}}, 118, "dev"},
		"an inconsistent one starts anew":             {[]step{{0, "dev"}, {100, "stg"}, {105, "?"}, {106, "stg"}}, 115, "dev"},
		"and counts later":                            {[]step{{0, "dev"}, {100, "stg"}, {105, "?"}, {106, "stg"}}, 116, "stg"},
		"what was settled stays":                      {[]step{{0, "dev"}, {100, "?"}, {200, "dev"}}, 201, "dev"},
		"nothing settles while inconsistent":          {[]step{{0, "dev"}, {100, "stg"}, {105, "?"}}, 200, "dev"},
		"left long ago":                               {[]step{{0, "dev"}, {100, ""}, {150, ""}, {160, ""}}, 165, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var v *View
			for _, st := range tt.steps {
				s := Snapshot{Found: true, Where: map[string]GroupKey{"other": {"dev", 0}}}
				switch st.show {
				case "":
				case "?":
					s.Inconsistent = "?"
				default:
					s.Where["c"] = GroupKey{Name: st.show}
				}
				before := v
				v = Observe(v, s, 10*time.Second, epoch.Add(time.Duration(st.at)*time.Second))
				if before == v {
					t.Fatal("the view was changed in place")
				}
			}
			now := epoch.Add(time.Duration(tt.at) * time.Second)
			key, in := v.placing("c").at(v, v.asOf(now))
			if got := key.Name; got != tt.want || in != (tt.want != "") {
				t.Errorf("in %q %v, want %q", got, in, tt.want)
			}
		})
	}
}

// TestObserveFirst: a view that was interrupted before it settled starts anew.
func TestObserveFirst(t *testing.T) {
	good := Snapshot{Found: true, Where: map[string]GroupKey{"c": {"dev", 0}}}
	at := func(s int) time.Time { return epoch.Add(time.Duration(s) * time.Second) }
	interrupted := func(bad Snapshot, when int) *View {
		v := Observe(nil, good, 10*time.Second, at(0))
		v = Observe(v, bad, 10*time.Second, at(when))
		return Observe(v, good, 10*time.Second, at(when+1))
	}
	for _, bad := range []Snapshot{{}, {Found: true, Inconsistent: "x"}} {
		if got := interrupted(bad, 5).settlesAt(); !got.Equal(at(16)) {
			t.Errorf("interrupted before: settles at %v", got)
		}
		if got := interrupted(bad, 10).settlesAt(); !got.Equal(at(10)) {
			t.Errorf("interrupted after: settles at %v", got)
		}
	}
}

func TestInconsistentFor(t *testing.T) {
	bad := Snapshot{Found: true, Inconsistent: "two names"}
	v := Observe(Observe(nil, bad, 0, epoch), bad, 0, epoch.Add(20*time.Second))
	if got := v.InconsistentFor(epoch.Add(29 * time.Second)); got != 29*time.Second {
		t.Errorf("inconsistent for %v", got)
	}
	if _, told := v.Inconsistent(epoch.Add(29 * time.Second)); told {
		t.Error("told before 30 s")
	}
	if why, told := v.Inconsistent(epoch.Add(30 * time.Second)); !told || why != "two names" {
		t.Errorf("after 30 s: %q %v", why, told)
	}
	v = Observe(v, Snapshot{Found: true}, 0, epoch.Add(40*time.Second))
	if got := v.InconsistentFor(epoch.Add(50 * time.Second)); got != 0 {
		t.Errorf("inconsistent for %v after a consistent one", got)
	}
}
