package rollout

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"time"
)

// epoch is when every simulation starts.
var epoch = time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)

// sim is a hub with a fleet: it gathers inputs, asks the planner, and carries out
// the answer, one second after the other. Agents follow their outcomes.
type sim struct {
	now                time.Time
	settle, grace      time.Duration
	lanes              []LaneSpec
	declared           map[string][]string
	implicit           bool
	revision           string
	shape              int
	pauses             []string
	blocks             []Hold
	hold               *Hold
	source             string
	confirmations      []Confirmation
	limits             *Limits
	clusters           map[string]*simCluster
	hidden             map[string]bool
	inconsistent, gone bool
	down               bool
	views              map[string]*View
	record             Record
	absent             map[string]time.Time
	tokens             int
	shuffle            *rand.Rand
	plan               func(Input, time.Time) Result
	crashAfter         int
	outcomes           map[string]outcome // by "id cluster", "id"
	dirty              bool
	last               Result
	nextAt             time.Time
	writes             int
	onPlan             func(Input, Result)
	askedFor           []string
}

func newSim() *sim {
	return &sim{
		now: epoch, settle: 10 * time.Second, grace: 60 * time.Second, declared: map[string][]string{},
		clusters: map[string]*simCluster{}, hidden: map[string]bool{}, views: map[string]*View{},
		source: "RolloutPolicy/main", plan: Plan, outcomes: map[string]outcome{}, dirty: true,
	}
}

func (s *sim) addCluster(name string, groups map[string]string) *simCluster {
	c := &simCluster{Cluster: Cluster{
		Name: name, Created: s.now.Add(-time.Hour), Exists: true, Available: true, AvailableSince: "a0", AddOn: AddOnPresent,
	}, groups: groups, labels: true}
	s.clusters[name] = c
	return c
}

func (s *sim) names() []string {
	list := make([]string, 0, len(s.clusters))
	for name := range s.clusters {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// input is what the hub gathers now.
func (s *sim) input() Input {
	in := Input{
		Bundle: "app/web", Revision: s.revision, Blocks: s.blocks, Pauses: slices.Clone(s.pauses), Views: map[string]*View{},
		Record: s.record, Absent: s.absent, RemovalGrace: s.grace,
		Source: s.sourceNow(), Confirmations: slices.Clone(s.confirmations),
	}
	for _, l := range s.lanes {
		if l.Placement != "" {
			in.Views[l.Placement] = s.views[l.Placement]
		}
	}
	for _, name := range s.names() {
		c := s.clusters[name]
		row := c.Cluster
		row.Selected = c.labels && c.Exists && !in.Source.NoTargets
		if row.Selected && row.RenderError == "" {
			row.DesiredID = s.revision
			row.DesiredShape = fmt.Sprintf("shape-%d-paused-%v", s.shape, len(s.pauses) > 0)
		}
		if row.Work == nil && row.Selected {
			row.CompletedID = s.record.CompletedRevision
		}
		if slices.Contains(s.askedFor, name) {
			row.Lease = fmt.Sprintf("rv%d", c.lease)
		}
		// A lease that was not read before is news too, as after a restart.
		s.dirty = s.dirty || row.Lease != c.leaseRead
		c.leaseRead = row.Lease
		if row.Work != nil {
			w := *row.Work
			row.Work = &w
		}
		in.Clusters = append(in.Clusters, row)
	}
	if s.shuffle != nil {
		s.shuffle.Shuffle(len(in.Clusters), func(i, j int) { in.Clusters[i], in.Clusters[j] = in.Clusters[j], in.Clusters[i] })
		s.shuffle.Shuffle(len(in.Pauses), func(i, j int) { in.Pauses[i], in.Pauses[j] = in.Pauses[j], in.Pauses[i] })
		groups := slices.Clone(in.Record.Groups)
		s.shuffle.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
		in.Record.Groups = groups
	}
	return in
}

// sourceNow is where the lanes come from: without a policy everything is one lane, and
// a bundle without targets of its own targets nothing.
func (s *sim) sourceNow() Source {
	if s.source != defaultSource {
		return Source{Name: s.source, Lanes: s.lanes, ImplicitTargets: s.implicit, Hold: s.hold, Limits: s.limits}
	}
	return Source{Name: s.source, NoTargets: s.implicit, Hold: s.hold, Lanes: []LaneSpec{partitionLane(&Partitions{})}}
}

// confirm is a person who confirms all that the last plan asked for, or some clusters
// of it only.
func (s *sim) confirm(only ...string) {
	for _, ask := range s.last.Confirm {
		c := Confirmation{Reason: ask.Reason, Subject: ask.Subject, Revision: s.revision, Clusters: ask.Clusters}
		if len(only) > 0 {
			c.Clusters = only
		}
		s.confirmations = append(s.confirmations, c)
	}
}

func (s *sim) observe() {
	for _, l := range s.lanes {
		if l.Placement != "" {
			s.views[l.Placement] = Observe(s.views[l.Placement], s.snapshot(l.Name), s.settle, s.now)
		}
	}
}

// restart forgets what the hub only has in memory.
func (s *sim) restart() {
	s.views, s.absent, s.askedFor, s.dirty = map[string]*View{}, nil, nil, true
}

// tick lets the agents work, plans until nothing is left to do, and calls say after
// each plan.
func (s *sim) tick(say func(Input, Result)) error {
	for _, name := range s.names() {
		s.dirty = s.clusters[name].work(s) || s.dirty
	}
	if s.down {
		return nil
	}
	for round := 0; ; round++ {
		if round == 300 {
			return fmt.Errorf("%s: the plan never comes to rest: %+v", s.elapsed(), s.last)
		}
		s.observe()
		in := s.input()
		r := s.plan(in, s.now)
		if err := s.checkRecheck(r); err != nil {
			return err
		}
		s.last, s.dirty = r, false
		s.nextAt = time.Time{}
		if r.RecheckAfter > 0 {
			s.nextAt = s.now.Add(r.RecheckAfter)
		}
		if s.onPlan != nil {
			s.onPlan(in, r)
		}
		say(in, r)
		acted, crashed := s.carryOut(r)
		if crashed {
			s.restart()
			continue
		}
		if !acted {
			return nil
		}
		s.dirty = true
	}
}

// checkRecheck fails when time alone changed the plan earlier than it said.
func (s *sim) checkRecheck(r Result) error {
	if s.dirty || (!s.nextAt.IsZero() && !s.now.Before(s.nextAt)) {
		return nil
	}
	if summary(r) != summary(s.last) {
		return fmt.Errorf("%s: the plan changed by time alone, and the last one said %v:\n%s\n%s", s.elapsed(), s.last.RecheckAfter, summary(s.last), summary(r))
	}
	return nil
}

func summary(r Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %v %v %v %v", r.Reason, r.Sentence, r.Admit, r.Refresh, r.Remove, r.Stamp)
	for _, c := range r.Clusters {
		fmt.Fprintf(&b, " %s=%s/%s", c.Name, c.State, c.Reason)
	}
	return b.String()
}

// carryOut does what the plan says; crashed is true when it died on the way.
func (s *sim) carryOut(r Result) (acted, crashed bool) {
	s.record, s.absent, s.askedFor = r.Record, r.Absent, r.ReadLeases
	for _, a := range r.Admit {
		s.tokens++
		s.writes++
		w := &Work{
			ID: a.ID, Revision: a.Revision, Admission: fmt.Sprintf("t%d", s.tokens), Place: a.Place, MinSuccessTime: a.MinSuccessTime,
			Shape: s.shapeNow(), Stamps: stored(a.Stamps),
		}
		if old := s.clusters[a.Cluster].Work; old != nil {
			w.Verdict = old.Verdict
		}
		s.clusters[a.Cluster].Work = w
		if s.crashAfter > 0 {
			if s.crashAfter--; s.crashAfter == 0 {
				return true, true
			}
		}
	}
	for _, f := range r.Refresh {
		w := s.clusters[f.Cluster].Work
		w.Place, w.MinSuccessTime, w.Shape, w.Stamps = f.Place, f.MinSuccessTime, s.shapeNow(), stored(f.Stamps)
		s.writes++
	}
	for _, d := range r.Remove {
		s.clusters[d.Cluster].Work = nil
		s.writes++
	}
	for _, st := range r.Stamp {
		s.clusters[st.Cluster].Work.Stamps = stored(st.Stamps)
	}
	return len(r.Admit)+len(r.Refresh)+len(r.Remove)+len(r.Stamp) > 0, false
}

func (s *sim) shapeNow() string { return fmt.Sprintf("shape-%d-paused-%v", s.shape, len(s.pauses) > 0) }

// stored is what comes back from the API.
func stored(in Stamps) Stamps {
	data, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	var out Stamps
	if err := json.Unmarshal(data, &out); err != nil {
		panic(err)
	}
	return out
}

func (s *sim) elapsed() string { return fmt.Sprintf("%4ds", int(s.now.Sub(epoch)/time.Second)) }
