package simulate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/pkg/target"
)

// What the manager's flags say by default.
const (
	settleTime   = 10 * time.Second
	removalGrace = 60 * time.Second
)

// leasePeriod is how often a cluster renews its lease.
const leasePeriod = 10 * time.Second

// shape of every work: nothing in a simulation changes one but an admission.
const shape0 = "simulated"

// epoch is the start of every simulation. No time of it is shown: sentences get the
// time since the start instead.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// sim is a hub with a fleet at one moment. Times are since the start.
type sim struct {
	*Scenario
	seed  int64
	step  time.Duration
	now   time.Duration
	queue queue

	// nodes in name order.
	nodes  []*node
	byName map[string]*node
	// moved is true while decisions have to be made anew, changed while targets have to
	// be matched anew too.
	moved, changed bool

	revision  string
	completed string
	paused    int
	confirmed []rollout.Confirmation
	blocks    []rollout.Hold
	views     map[string]*rollout.View
	record    rollout.Record
	absent    map[string]time.Time
	rows      []rollout.Cluster
	tokens    int
	last      rollout.Result
	// recheck is when time alone changes the plan; 0 if it never does.
	recheck time.Duration

	timeline timeline
	down     downCount
	plans    int
}

func (s *sim) clock() time.Time { return epoch.Add(s.now) }

// stepUp is a time rounded up to the next step: nothing happens between two.
func (s *sim) stepUp(d time.Duration) time.Duration {
	if rest := d % s.step; rest > 0 {
		return d + s.step - rest
	} else if rest < 0 {
		return d - rest
	}
	return d
}

// add brings a cluster in.
func (s *sim) add(c newCluster, created time.Duration) *node {
	n := &node{name: c.name, labels: map[string]string{}, claims: c.claims, told: rollout.Pending}
	for k, v := range c.labels {
		n.labels[k] = v
	}
	n.row = rollout.Cluster{
		Name: c.name, Created: epoch.Add(created), Exists: true, Available: true, AvailableSince: "start",
		AddOn: rollout.AddOnPresent, DesiredShape: shape0,
	}
	at, _ := slices.BinarySearchFunc(s.nodes, c.name, func(n *node, name string) int { return strings.Compare(n.name, name) })
	s.nodes = slices.Insert(s.nodes, at, n)
	s.byName[c.name] = n
	s.moved, s.changed = true, true
	return n
}

// forget drops the clusters that are deleted and have no work any more.
func (s *sim) forget() {
	s.nodes = slices.DeleteFunc(s.nodes, func(n *node) bool {
		gone := !n.row.Exists && n.row.Work == nil
		if gone {
			delete(s.byName, n.name)
		}
		return gone
	})
}

// match finds the clusters that the bundle selects, and what it comes to there.
func (s *sim) match() {
	clusters := make([]target.Cluster, 0, len(s.nodes))
	for _, n := range s.nodes {
		n.row.Selected = false
		if n.row.Exists {
			clusters = append(clusters, target.Cluster{Name: n.name, Labels: n.labels})
		}
	}
	s.blocks = nil
	var matches []target.Match
	var err error
	if s.source.ImplicitTargets {
		matches = target.SelectAll(s.object, clusters)
	} else {
		matches, err = target.Select(s.object, target.Groups(s.groups), clusters)
	}
	var partitions map[string]int
	if err == nil {
		partitions, err = target.Partitions(s.object, target.Groups(s.groups), clusters)
	}
	if err != nil {
		s.blocks = []rollout.Hold{{Reason: rollout.BundleInvalid, Sentence: err.Error()}}
		return
	}
	for _, n := range s.nodes {
		n.row.Partition = partitions[n.name]
	}
	for i := range matches {
		n := s.byName[matches[i].Cluster]
		n.row.Selected, n.row.RenderError = true, ""
		n.row.DesiredID, n.row.CompletedID = "", ""
		options, err := matches[i].Render(&target.Cluster{Name: n.name, Labels: n.labels})
		if err == nil {
			n.row.DesiredID, err = target.DeploymentID(s.revision, options)
		}
		if err == nil && s.completed != "" {
			n.row.CompletedID, err = target.DeploymentID(s.completed, options)
		}
		if err != nil {
			n.row.RenderError = err.Error()
		}
	}
}

// observe takes the Placements' decisions in.
func (s *sim) observe() {
	for _, l := range s.source.Lanes {
		if l.Placement != "" {
			s.views[l.Placement] = rollout.Observe(s.views[l.Placement], s.placements[l.Placement].decide(s.nodes), settleTime, s.clock())
		}
	}
}

// input is what the hub gathers now.
func (s *sim) input() rollout.Input {
	if s.changed {
		s.match()
	}
	if s.moved {
		s.observe()
	}
	s.moved, s.changed = false, false
	in := rollout.Input{
		Bundle: s.object.Namespace + "/" + s.object.Name, Revision: s.revision, Source: s.source, Blocks: s.blocks, Views: s.views,
		Confirmations: s.confirmed, Record: s.record, Absent: s.absent, RemovalGrace: removalGrace,
	}
	if s.paused > 0 {
		in.Pauses = append(in.Pauses, "the Rollout")
	}
	if s.object.Spec.Paused {
		in.Pauses = append(in.Pauses, "the Bundle")
	}
	s.rows = s.rows[:0]
	for _, n := range s.nodes {
		s.rows = append(s.rows, n.row)
	}
	in.Clusters = s.rows
	return in
}

// plan asks the planner and carries out its answer, until nothing is left to do now.
func (s *sim) plan() error {
	// Ten rounds for each hundred clusters are far more than a plan's chunks need.
	for rounds := 100 + len(s.nodes)/10; ; rounds-- {
		if rounds == 0 {
			return fmt.Errorf("at %s the plan never comes to rest: %s: %s", s.now, s.last.Reason, s.last.Sentence)
		}
		in := s.input()
		r := rollout.Plan(in, s.clock())
		if len(r.ReadLeases) > 0 {
			s.readLeases(in, r.ReadLeases)
			r = rollout.Plan(in, s.clock())
		}
		s.plans++
		s.timeline.admitted(s, r.Admit)
		again := s.carryOut(&r)
		s.last = r
		if !again {
			break
		}
	}
	s.recheck = 0
	if s.last.RecheckAfter > 0 {
		s.recheck = max(s.stepUp(s.now+s.last.RecheckAfter), s.now+s.step)
	}
	return nil
}

// readLeases puts the leases into the input that the planner asked for.
func (s *sim) readLeases(in rollout.Input, names []string) {
	for _, name := range names {
		at, _ := slices.BinarySearchFunc(s.nodes, name, func(n *node, name string) int { return strings.Compare(n.name, name) })
		if s.nodes[at].away == 0 {
			in.Clusters[at].Lease = fmt.Sprint("renewed ", s.now.Truncate(leasePeriod))
		}
	}
}

// carryOut does what the plan says, and tells whether it has to be asked again now:
// after anything but stamps, which it has reckoned with already.
func (s *sim) carryOut(r *rollout.Result) bool {
	s.record, s.absent = r.Record, r.Absent
	for i := range r.Admit {
		s.admit(&r.Admit[i])
	}
	for i := range r.Refresh {
		f := &r.Refresh[i]
		n := s.byName[f.Cluster]
		longer := n.row.Work.MinSuccessTime != f.MinSuccessTime
		n.row.Work.Place, n.row.Work.MinSuccessTime, n.row.Work.Shape, n.row.Work.Stamps = f.Place, f.MinSuccessTime, shape0, f.Stamps
		if longer && n.agent.ready && n.agent.admission == n.row.Work.Admission {
			s.soak(n)
		}
	}
	for i := range r.Remove {
		n := s.byName[r.Remove[i].Cluster]
		n.row.Work, n.agent, n.ran, n.told = nil, agent{}, false, rollout.Pending
	}
	s.timeline.removed(s, r.Remove)
	for i := range r.Stamp {
		s.byName[r.Stamp[i].Cluster].row.Work.Stamps = r.Stamp[i].Stamps
	}
	if len(r.Remove) > 0 {
		s.forget()
	}
	if r.Record.CompletedRevision != s.completed {
		s.completed, s.changed = r.Record.CompletedRevision, true
		return true
	}
	return len(r.Admit)+len(r.Refresh)+len(r.Remove) > 0
}

// admit writes a work and lets the agent see it.
func (s *sim) admit(a *rollout.Admit) {
	n := s.byName[a.Cluster]
	s.tokens++
	w := &rollout.Work{
		ID: a.ID, Revision: a.Revision, Admission: fmt.Sprint("admission ", s.tokens), Place: a.Place,
		MinSuccessTime: a.MinSuccessTime, Shape: shape0, Stamps: a.Stamps,
	}
	if old := n.row.Work; old != nil {
		w.Verdict = old.Verdict
	}
	n.row.Work = w
	n.told = rollout.Progressing
	s.start(n)
}
