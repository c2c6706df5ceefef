package rollout

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// dice are bytes that decide; at their end every throw is 0.
type dice []byte

func (d *dice) throw(n int) int {
	if len(*d) == 0 {
		return 0
	}
	b := (*d)[0]
	*d = (*d)[1:]
	return int(b) % n
}

func (d *dice) one(of ...string) string { return of[d.throw(len(of))] }

// rarely is true for one byte in eight.
func (d *dice) rarely() bool { return d.throw(8) == 7 }

// FuzzPlan makes inputs of bytes, possible or not, and checks what must be so of any
// plan.
func FuzzPlan(f *testing.F) {
	r := rand.New(rand.NewSource(1))
	for range 64 {
		seed := make([]byte, 40+r.Intn(300))
		for i := range seed {
			seed[i] = byte(r.Intn(256))
		}
		f.Add(seed)
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		d := dice(data)
		in := fuzzedInput(&d)
		r := Plan(in, testNow)
		checkPlan(t, in, r)
		shuffled := in
		shuffled.Clusters, shuffled.Confirmations = shuffle(in.Clusters), shuffle(in.Confirmations)
		shuffled.Pauses, shuffled.Record.Groups = shuffle(in.Pauses), shuffle(in.Record.Groups)
		if diff := cmp.Diff(r, Plan(shuffled, testNow)); diff != "" {
			t.Errorf("another order, another plan (-first +second):\n%s", diff)
		}
	})
}

func shuffle[T any](list []T) []T {
	out := slices.Clone(list)
	rand.New(rand.NewSource(2)).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func fuzzedInput(d *dice) Input {
	in := Input{
		Bundle: "app/web", Revision: "v2", Views: map[string]*View{}, RemovalGrace: time.Minute, Pinned: d.rarely(),
		Source: Source{Name: d.one("RolloutPolicy/main", "Bundle", "Default")},
		Record: Record{Revision: d.one("v2", "v2", "v2", "v1", ""), RevisionSince: epoch, CompletedRevision: d.one("", "v0", "v1")},
	}
	in.Record.Source = d.one("", in.Source.Name, in.Source.Name, "RolloutPolicy/old", "Default")
	if d.rarely() {
		in.Pauses = []string{"the Rollout", "RolloutPolicy main"}
	}
	if d.rarely() {
		in.Blocks = []Hold{{StrategyInvalid, "something is wrong"}}
	}
	in.Source.ImplicitTargets, in.Source.NoTargets = d.rarely(), d.rarely()
	for i := range 1 + d.throw(3) {
		in.Source.Lanes = append(in.Source.Lanes, fuzzedLane(d, fmt.Sprintf("lane%d", i)))
	}
	for i := range d.throw(24) {
		in.Clusters = append(in.Clusters, fuzzedCluster(d, fmt.Sprintf("c%02d", i)))
	}
	for _, l := range in.Source.Lanes {
		if l.Placement != "" && !d.rarely() {
			in.Views[l.Placement] = fuzzedView(d, in.Clusters)
		}
		for g := range 3 {
			if d.throw(2) == 0 {
				continue
			}
			place := Place{l.Name, GroupKey{Name: fmt.Sprintf("g%d", g)}}
			in.Record.Groups = append(in.Record.Groups, RecordedGroup{Place: place, OpenedAt: fuzzedTime(d)})
		}
	}
	for range d.throw(4) {
		in.Confirmations = append(in.Confirmations, Confirmation{
			Reason:  Reason(d.one("RolloutSourceChanged", "GroupVanished", "RemovalGuard")),
			Subject: d.one("lane0/g0", "lane0/g1", "RolloutPolicy/main", ""), Revision: d.one("v2", "v1"), Clusters: []string{"c00", "c03"},
		})
	}
	if d.rarely() {
		in.Absent = map[string]time.Time{"c00": testNow.Add(-time.Hour), "c01": testNow.Add(-time.Hour)}
	}
	return in
}

func fuzzedLane(d *dice, name string) LaneSpec {
	limit := func(from ...string) *intstr.IntOrString {
		text := d.one(from...)
		if text == "" {
			return nil
		}
		v := intstr.Parse(text)
		return &v
	}
	l := LaneSpec{Name: name, Placement: "app/" + name}
	if d.throw(4) == 0 {
		threshold, batch := d.throw(5), d.throw(4)
		l.Placement, l.Partitions = "", &Partitions{
			Limits:                   Limits{MaxUnavailable: limit("", "0", "1", "50%"), MaxNew: &batch},
			MaxUnavailablePartitions: limit("", "0", "1"), AutoSize: limit("", "1", "25%"), AutoThreshold: &threshold,
		}
		if d.throw(2) == 0 {
			l.Partitions.Manual = []ManualPartition{{Name: "first", MaxUnavailable: limit("", "1")}, {Name: "second"}}
		}
		return l
	}
	l.Strategy = Strategy{
		Type:           StrategyType(d.one("All", "ProgressivePerGroup", "ProgressivePerGroup", "Progressive")),
		MinSuccessTime: time.Duration(d.throw(3)) * testSoak, ProgressDeadline: time.Duration(d.throw(2)) * testDeadline,
		MaxFailures: *limit("0", "1", "5", "34%", "100%"), QueueConcurrency: limit("", "1", "2", "50%"), GroupConcurrency: limit("", "", "1", "10%"),
	}
	if d.rarely() {
		l.Strategy.Mandatory = []MandatoryGroup{{Name: d.one("g0", "g2", "gone")}, {Index: d.throw(4)}}
	}
	if d.rarely() {
		soak := testSoak
		l.Strategy.Groups = map[string]GroupTerms{"g1": {MinSuccessTime: &soak, MaxFailures: limit("", "1"), MaxConcurrency: limit("1", "100%")}}
	}
	return l
}

func fuzzedTime(d *dice) time.Time {
	return []time.Time{{}, epoch, testNow.Add(-time.Minute), testNow, testNow.Add(time.Hour)}[d.throw(5)]
}

func fuzzedCluster(d *dice, name string) Cluster {
	place := Place{d.one("lane0", "lane0", "lane1", "gone"), GroupKey{Name: fmt.Sprintf("g%d", d.throw(4)), Index: d.throw(12) / 11}}
	state := d.one("-", "-", "Old", "Progressing", "Late", "Soaking", "Done", "Done", "Failed", "TimedOut", "Recovering")
	c := clusterIn(name, place, state)
	c.Created, c.CompletedID, c.Partition = fuzzedTime(d), d.one("", "v1"), d.throw(3)
	c.Exists, c.Available, c.Unreachable, c.Selected = !d.rarely(), !d.rarely(), d.rarely(), !d.rarely()
	c.AddOn = []AddOnState{AddOnPresent, AddOnPresent, AddOnPresent, AddOnMissing, AddOnDeleting}[d.throw(5)]
	if d.rarely() {
		c.DesiredID, c.RenderError = "", "cannot be rendered"
	}
	if d.rarely() {
		c.Unwritten = "refused by a webhook"
	}
	if c.Work == nil {
		return c
	}
	c.Work.Deleting, c.Work.Verdict.Waiting = d.rarely(), d.rarely()
	if d.rarely() {
		c.Work.Shape = "another"
	}
	if d.rarely() {
		s := &c.Work.Stamps
		for _, at := range []*time.Time{&s.AdmittedAt, &s.ReadySeenAt, &s.SoakedSeenAt, &s.LostSeenAt, &s.FailedAt, &s.DoneAt, &s.MemberSince} {
			*at = fuzzedTime(d)
		}
	}
	return c
}

// fuzzedView is what the decisions say: mostly where the works are, sometimes nothing.
func fuzzedView(d *dice, clusters []Cluster) *View {
	s := Snapshot{Found: !d.rarely(), Where: map[string]GroupKey{}, Indexes: map[GroupKey]int{}}
	for g := range 4 {
		key := GroupKey{Name: fmt.Sprintf("g%d", g)}
		s.Groups, s.Declared, s.Indexes[key] = append(s.Groups, key), append(s.Declared, key.Name), g
	}
	for _, c := range clusters {
		if d.throw(6) == 0 {
			continue
		}
		key := s.Groups[d.throw(4)]
		if c.Work != nil && d.throw(4) > 0 && c.Work.Place.Index == 0 {
			key = c.Work.Place.GroupKey
		}
		s.Where[c.Name] = key
	}
	v := Observe(nil, s, testSettle, epoch)
	if d.rarely() {
		s.Inconsistent = "decision d1 has no group index"
		v = Observe(v, s, testSettle, testNow.Add(-time.Second))
	}
	return v
}

// checkPlan fails for what no plan may do, whatever it is made of.
func checkPlan(t *testing.T, in Input, r Result) {
	t.Helper()
	clusters := map[string]Cluster{}
	for _, c := range in.Clusters {
		clusters[c.Name] = c
	}
	acted := map[string]bool{}
	act := func(name string) {
		if _, ok := clusters[name]; !ok || acted[name] {
			t.Errorf("%q is acted on twice or does not exist", name)
		}
		acted[name] = true
	}
	for _, a := range r.Admit {
		act(a.Cluster)
		c := clusters[a.Cluster]
		desired := a.ID == c.DesiredID && a.Revision == in.Revision
		newcomer := c.Work == nil && a.ID == c.CompletedID && a.Revision == in.Record.CompletedRevision
		if a.ID == "" || (!desired && !newcomer) {
			t.Errorf("%s is admitted to %q of revision %q", a.Cluster, a.ID, a.Revision)
		}
		if len(in.Pauses)+len(in.Blocks) > 0 {
			t.Errorf("%s is admitted although the rollout is paused or held", a.Cluster)
		}
	}
	for _, a := range r.Refresh {
		act(a.Cluster)
	}
	for _, a := range r.Remove {
		act(a.Cluster)
		if clusters[a.Cluster].Work == nil {
			t.Errorf("%s is removed and has nothing", a.Cluster)
		}
	}
	checkCounts(t, "the rollout", r.Counts)
	if r.RecheckAfter < 0 || (r.Hold != nil && r.Hold.Sentence == "") || (r.Complete && r.Breached) {
		t.Errorf("recheck after %s, hold %v, complete %v, breached %v", r.RecheckAfter, r.Hold, r.Complete, r.Breached)
	}
	members := 0
	for _, l := range r.Lanes {
		for _, g := range l.Groups {
			checkCounts(t, l.Name+"/"+g.Label(), g.Counts)
			members += g.Counts.Total
		}
	}
	told := map[bool]int{}
	for i, c := range r.Clusters {
		if i > 0 && r.Clusters[i-1].Name >= c.Name {
			t.Errorf("%s is told of twice, or out of order", c.Name)
		}
		told[c.Selected || c.InLane]++
		if c.InLane {
			members--
		}
	}
	if members != 0 {
		t.Errorf("the groups have %d members more than there are", members)
	}
	// One that is neither selected nor a member is counted while nobody knows better.
	if n := r.Counts.Total; n < told[true] || n > told[true]+told[false] {
		t.Errorf("%d clusters are counted of %d and %d", n, told[true], told[false])
	}
}

func checkCounts(t *testing.T, of string, c Counts) {
	t.Helper()
	if sum := c.Pending + c.Progressing + c.Soaking + c.Done + c.Failed + c.TimedOut + c.Recovering; sum != c.Total {
		t.Errorf("the counts of %s add up to %d: %+v", of, sum, c)
	}
}
