package rollout

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// testNow is when the plans of the unit tests are made.
var testNow = epoch.Add(time.Hour)

const (
	testSoak     = 20 * time.Second
	testDeadline = time.Minute
)

// testSettle is the settle time of the tests' views.
const testSettle = 10 * time.Second

// perGroup is a ProgressivePerGroup strategy with mandatory groups by name.
func perGroup(maxFailures string, mandatory ...string) Strategy {
	s := Strategy{Type: ProgressivePerGroup, MinSuccessTime: testSoak, ProgressDeadline: testDeadline, MaxFailures: intstr.Parse(maxFailures)}
	for _, name := range mandatory {
		s.Mandatory = append(s.Mandatory, MandatoryGroup{Name: name})
	}
	return s
}

// fleetOf is an input with one lane and clusters written as "name group state"; the
// state "-" has no work, "Old" is Done on v1, "Late" progresses behind its deadline and
// "FailedLate" failed before it. Groups are declared as they come.
func fleetOf(s Strategy, rows ...string) Input {
	in := Input{
		Bundle: "app/web", Revision: "v2", Views: map[string]*View{}, RemovalGrace: time.Minute,
		Source: Source{Name: "RolloutPolicy/main", Lanes: []LaneSpec{{Name: "fleet", Placement: "app/fleet", Strategy: s}}},
		Record: Record{Revision: "v2", RevisionSince: epoch},
	}
	snapshot := Snapshot{Found: true, Where: map[string]GroupKey{}, Indexes: map[GroupKey]int{}}
	for _, row := range rows {
		f := strings.Fields(row)
		key := GroupKey{Name: f[1]}
		if _, ok := snapshot.Indexes[key]; !ok {
			snapshot.Indexes[key] = len(snapshot.Groups)
			snapshot.Groups, snapshot.Declared = append(snapshot.Groups, key), append(snapshot.Declared, key.Name)
		}
		snapshot.Where[f[0]] = key
		in.Clusters = append(in.Clusters, clusterIn(f[0], Place{"fleet", key}, f[2]))
	}
	in.Views["app/fleet"] = Observe(nil, snapshot, testSettle, epoch)
	return in
}

func clusterIn(name string, place Place, state string) Cluster {
	c := Cluster{
		Name: name, Created: epoch, Exists: true, Available: true, AvailableSince: "a", AddOn: AddOnPresent,
		Selected: true, DesiredID: "v2", DesiredShape: "s",
	}
	if state == "-" {
		return c
	}
	admitted := testNow.Add(-30 * time.Second)
	w := &Work{
		ID: "v2", Revision: "v2", Admission: "t", Place: place, MinSuccessTime: testSoak, Shape: "s",
		Stamps: Stamps{AdmittedAt: admitted, MemberSince: epoch}, Verdict: Verdict{Admission: "t"},
	}
	c.Work = w
	ready := func(at time.Time) {
		w.Verdict.Applied, w.Verdict.Ready, w.Verdict.ReadySince = true, true, "r"
		w.Stamps.ReadySeenAt, w.Stamps.ReadyFor = at, "t|r|a"
	}
	switch state {
	case "Old", string(Done):
		ready(admitted.Add(-time.Minute))
		w.Verdict.Soaked, w.Verdict.SoakedKnown = testSoak, true
		w.Stamps.SoakedSeenAt, w.Stamps.DoneAt = admitted.Add(-30*time.Second), admitted.Add(-30*time.Second)
		if state == "Old" {
			w.ID, w.Revision = "v1", "v1"
		}
	case string(Soaking):
		ready(testNow.Add(-5 * time.Second))
	case string(Recovering):
		ready(testNow.Add(-5 * time.Second))
		w.Stamps.FailedAt = admitted
	case string(Failed):
		w.Verdict.Terminal, w.Verdict.Message = true, "chart does not render"
		w.Stamps.FailedAt = admitted
	case string(TimedOut):
		w.Stamps.FailedAt = admitted
	case "Late":
		w.Stamps.AdmittedAt = testNow.Add(-2 * testDeadline)
	case "FailedLate":
		w.Verdict.Terminal, w.Verdict.Message = true, "chart does not render"
		w.Stamps.AdmittedAt, w.Stamps.FailedAt = testNow.Add(-2*testDeadline), testNow.Add(-2*testDeadline)
	}
	return c
}

func (in *Input) cluster(t *testing.T, name string) *Cluster {
	t.Helper()
	for i := range in.Clusters {
		if in.Clusters[i].Name == name {
			return &in.Clusters[i]
		}
	}
	t.Fatalf("no cluster %s", name)
	return nil
}

// admitted, removed and refreshed are the names in a plan's actions.
func admitted(r Result) string {
	var list []string
	for _, a := range r.Admit {
		list = append(list, a.Cluster)
	}
	return strings.Join(list, " ")
}

func removed(r Result) string {
	var list []string
	for _, d := range r.Remove {
		list = append(list, d.Cluster)
	}
	return strings.Join(list, " ")
}

func refreshed(r Result) string {
	var list []string
	for _, f := range r.Refresh {
		list = append(list, f.Cluster)
	}
	return strings.Join(list, " ")
}

func row(t *testing.T, r Result, name string) ClusterResult {
	t.Helper()
	for _, c := range r.Clusters {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no cluster %s in the result", name)
	return ClusterResult{}
}
