package rollout

import (
	"slices"
	"strings"
	"time"
)

// chunk is how many works one plan admits, refreshes or removes at most, so that
// what the first ones show can still stop the others.
const chunk = 100

// Plan decides what to do now.
func Plan(in Input, now time.Time) Result {
	p := &planner{in: in, now: now.UTC().Truncate(time.Microsecond), said: map[saying]string{}}
	p.remember()
	p.readLanes()
	p.hold()
	p.gather()
	p.vanish()
	p.gate()
	p.open()
	p.act()
	p.guard()
	p.tell()
	return p.out
}

// planner is one plan under way.
type planner struct {
	in  Input
	now time.Time
	out Result

	lanes  []*lane
	laneOf map[string]int
	// members are all clusters in name order, in a group or not.
	members []member
	// held is why nothing is admitted, removed or refreshed; paused why nothing is
	// admitted or removed.
	held, paused *Hold
	// foreign is true while the source is not the one that the rollout is under.
	foreign bool
	// due are the removals that only the guard can hold back, in name order.
	due []*member
	// heldBack is why the guard holds some of them.
	heldBack *Hold
	// taken is how many clusters were admitted, or would be if the plan was not paused.
	taken int
	// said are sentences that many clusters share.
	said map[saying]string
	// next is the earliest moment at which time alone changes the plan.
	next time.Time
}

// lane is a LaneSpec with its groups in order.
type lane struct {
	LaneSpec
	view   *View
	groups []*group
	byKey  map[GroupKey]*group
	// found is the group that was asked for last.
	found *group
	// sizes counts the groups of a name in the decisions.
	sizes map[string]int
	held  *Hold
	// breached is the first group with more failures than are tolerated, current the
	// first one that has not passed.
	breached, current *group
	// shares is set in a lane of Fleet's partitions.
	shares *shares
	// opened is when the record's groups were opened.
	opened map[GroupKey]time.Time
	// size counts the members that are no late joiners; max and failures are the whole
	// lane's, failing up to five of them, with Progressive.
	size, max, failures int
	failing             []*member
	// flight is the queue's with Progressive.
	flight flight
}

// group is a group of a lane with its members in name order.
type group struct {
	GroupKey
	lane      *lane
	label     string
	mandatory bool
	members   []*member

	settings
	// size counts the members that are no late joiners.
	size, late    int
	max, failures int
	// over is true with more failures than are tolerated, by the group or by its queue.
	open, passed, over bool
	counts             Counts
	// holding are those that the group waits for; lagging the late joiners that are
	// not settled.
	holding, failing, lagging []*member
	// nextAt is when the first soak or deadline here ends, soaksTo and failsAt when the
	// last soak and the last deadline do; endless is true if there is none for a cluster
	// that progresses.
	nextAt, soaksTo, failsAt time.Time
	endless                  bool
	openedAt                 time.Time
	flight                   flight
	// next are those that this plan admits, or would admit if it was not paused.
	next []*member
	// closed says, while the group is not open, what it waits for; breach why the
	// lane is stopped here.
	closed, breach Hold
	// budget is what Fleet's limits leave here; nil without any. partition is the
	// number of the partition in its lane.
	budget    *budget
	partition int
}

// member is one cluster in the plan. What every step asks stands first, within one
// line of the processor's cache.
type member struct {
	*Cluster
	group *group
	// desired is the id that the cluster should have.
	desired string
	// selected tells whether the bundle wants the cluster, seen whether any lane's
	// latest decisions show it.
	selected, seen bool
	// flying is true while whatever was admitted is not settled.
	flying bool
	// late is true for one that came after its group was opened.
	late bool
	// unwanted is true when the cluster's work has no business there as far as the
	// latest reading goes, removable once that was so for the whole grace; stale when
	// the work differs from what is wanted in more than its id; acted once the plan
	// has an action for it.
	unwanted, removable, stale, acted bool
	// The state is that of the work's admission until classify looks at what is desired.
	judged
	standing
	// kept says why a cluster outside every group is left as it is.
	kept    *Hold
	shownAs Shown
	// began is when the state began, as far as the stamps tell.
	began time.Time
	// why is what a Pending cluster waits for.
	why Hold
}

// at notes a moment at which time alone changes something.
func (p *planner) at(t time.Time) {
	if t.After(p.now) && (p.next.IsZero() || t.Before(p.next)) {
		p.next = t
	}
}

// readLanes takes the lanes of the source with what is known of their Placements.
func (p *planner) readLanes() {
	p.laneOf = map[string]int{}
	for i, spec := range p.in.Source.Lanes {
		l := &lane{LaneSpec: spec, byKey: map[GroupKey]*group{}, sizes: map[string]int{}, opened: map[GroupKey]time.Time{}}
		if spec.Placement != "" {
			l.view = p.in.Views[spec.Placement]
			if l.view == nil {
				l.view = &View{}
			}
			for _, key := range l.view.believed.Groups {
				l.sizes[key.Name]++
			}
		}
		p.lanes = append(p.lanes, l)
		p.laneOf[spec.Name] = i
	}
}

// gather sorts the clusters, finds where each stands and what state it is in.
func (p *planner) gather() {
	p.enlist()
	p.out.Absent = map[string]time.Time{}
	for _, g := range p.out.Record.Groups {
		if i, ok := p.laneOf[g.Lane]; ok {
			p.lanes[i].opened[g.GroupKey] = g.OpenedAt
		}
	}
	for i := range p.members {
		m := &p.members[i]
		m.desired = m.DesiredID
		if m.Work != nil && !m.wanted() && m.Work.Revision == p.in.Revision {
			// Nobody computes an id for a cluster that is on its way out.
			m.desired = m.Work.ID
		}
		p.locate(m)
		p.classify(m)
		if m.group != nil {
			m.late = p.isLate(m)
			m.group.join(m)
		}
		m.began = p.since(m)
	}
	p.partition()
	for _, l := range p.lanes {
		l.sortGroups()
	}
}

// enlist makes a member of each cluster, in name order. The hub has them so, and to
// look is cheaper than to sort.
func (p *planner) enlist() {
	clusters := p.in.Clusters
	p.members = make([]member, len(clusters))
	sorted := true
	for i := range clusters {
		p.members[i].Cluster = &clusters[i]
		sorted = sorted && (i == 0 || clusters[i-1].Name <= clusters[i].Name)
	}
	if sorted {
		return
	}
	for i, index := range byName(clusters) {
		p.members[i].Cluster = &clusters[index]
	}
}

// byName are the indexes of clusters in name order.
func byName(clusters []Cluster) []int {
	// With the name beside it, sorting need not look into each cluster.
	type named struct {
		name  string
		index int
	}
	order := make([]named, len(clusters))
	for i := range clusters {
		order[i] = named{clusters[i].Name, i}
	}
	slices.SortFunc(order, func(a, b named) int { return strings.Compare(a.name, b.name) })
	out := make([]int, len(order))
	for i := range order {
		out[i] = order[i].index
	}
	return out
}

// classify gives a cluster its state.
func (p *planner) classify(m *member) {
	if m.Work != nil {
		m.judged = judge(m.Cluster, p.termsOf(m), p.now)
		m.flying = !m.state.Settled()
		p.wakeFor(&m.judged)
	}
	switch {
	case m.RenderError != "" && m.wanted():
		m.state, m.until = Failed, time.Time{}
	case m.Work == nil || m.desired == "" || m.Work.ID != m.desired || m.Work.Deleting:
		m.state, m.until = Pending, time.Time{}
	}
	// All that needs the work is asked here, while it is in the processor's cache.
	m.shownAs, m.stale = m.shown(), p.refreshable(m) && p.differs(m)
	m.unwanted = m.Work != nil && !m.Work.Deleting && (!m.Exists || p.unselected(m))
	if m.state != Pending && m.wantsLease {
		p.readLease(m)
	}
}

// termsOf are those of the lane where a cluster stands, or just its own soak where it
// stands nowhere or nobody has confirmed the lane's source.
func (p *planner) termsOf(m *member) terms {
	t := terms{minSuccess: m.Work.MinSuccessTime, paused: p.paused != nil, resumedAt: p.out.Record.ResumedAt}
	if m.group != nil && !p.foreign {
		t.minSuccess, t.deadline = m.group.minSuccess, m.group.deadline
	}
	return t
}

// wakeFor notes when time alone changes a cluster's state, or what is told of it.
func (p *planner) wakeFor(j *judged) {
	p.at(j.until)
	if j.success && !j.until.IsZero() {
		p.at(j.until.Add(confirmDelay))
	}
}

// readLease asks for a sign of life: the first reading is what the later ones are
// compared with.
func (p *planner) readLease(m *member) {
	p.out.ReadLeases = append(p.out.ReadLeases, m.Name)
	wait := leasePoll
	if m.stamps.Lease == "" {
		wait = leaseFirst
	}
	p.at(p.now.Add(wait))
}

// wanted tells whether a target selects the cluster, or its namespace may use it.
func (m *member) wanted() bool { return m.Exists && m.Selected }
