package rollout

import "fmt"

// clusterGates keep a Pending cluster from its desired id. They are asked in this
// order and the first one that blocks is the one to tell.
var clusterGates = []func(*planner, *member) (Reason, string, bool){
	rolloutHeld,
	keptAsItIs,
	noLongerSelected,
	notInPlacement,
	laneHeld,
	laneBreached,
	groupClosed,
	addOnDeleting,
	placeUnsettled,
}

func rolloutHeld(p *planner, _ *member) (Reason, string, bool) { return holds(p.held) }

func keptAsItIs(_ *planner, m *member) (Reason, string, bool) { return holds(m.kept) }

func noLongerSelected(_ *planner, m *member) (Reason, string, bool) {
	if m.selected || m.settling {
		return "", "", false
	}
	return NoLongerSelected, "the bundle does not select the cluster any more", true
}

func notInPlacement(p *planner, m *member) (Reason, string, bool) {
	switch {
	case m.group != nil:
		return "", "", false
	case m.settling:
		return PlacementSettling, p.settleSentence(m), true
	}
	return NotInPlacement, "no Placement decides the cluster: it stays as it is", true
}

func laneHeld(_ *planner, m *member) (Reason, string, bool) { return holds(m.lane.held) }

func laneBreached(_ *planner, m *member) (Reason, string, bool) {
	if m.lane.breached == nil {
		return "", "", false
	}
	return holds(&m.lane.breached.breach)
}

func groupClosed(_ *planner, m *member) (Reason, string, bool) {
	if m.group.open {
		return "", "", false
	}
	return holds(&m.group.closed)
}

func addOnDeleting(_ *planner, m *member) (Reason, string, bool) {
	switch {
	case m.AddOn == AddOnDeleting:
		return AddOnNotInstalled, "the add-on is being removed from the cluster", true
	case m.Work != nil && m.Work.Deleting:
		return AddOnNotInstalled, "the cluster's ManifestWork is being deleted", true
	}
	return "", "", false
}

// placeUnsettled keeps a cluster back that the decisions do not show where it
// stands. One that is unreachable is admitted like the others.
func placeUnsettled(p *planner, m *member) (Reason, string, bool) {
	switch {
	case m.settling:
		return PlacementSettling, p.settleSentence(m), true
	case m.hidden && !m.Unreachable:
		return PlacementSettling, "the Placement's decisions do not show the cluster", true
	}
	return "", "", false
}

func (p *planner) settleSentence(m *member) string {
	const changed = "the Placement's decisions on the cluster have just changed"
	from := p.countsFrom(m)
	if from.IsZero() {
		return changed
	}
	return changed + " and count from " + clock(from)
}

func holds(h *Hold) (Reason, string, bool) {
	if h == nil {
		return "", "", false
	}
	return h.Reason, h.Sentence, true
}

// limits are asked, in this order, of a cluster that no gate keeps back. They count
// what the plan has admitted before: take adds to their counts.
var limits = []func(*planner, *member) (Reason, string, bool){
	groupConcurrency,
	queueConcurrency,
	fleetLimits,
}

// take counts a cluster that is admitted in the limits that follow.
func (p *planner) take(m *member) {
	p.taken++
	m.group.next = append(m.group.next, m)
	m.group.budget.takes(m)
	if m.inFlight() {
		return
	}
	m.group.flight.take(m)
	if m.group.queued() {
		m.lane.flight.take(m)
	}
}

// act decides on the actions, lane by lane. Works that could not be written last time
// come after all others: a hundred of them would fill every chunk.
func (p *planner) act() {
	var unwritten []*member
	for _, l := range p.lanes {
		for _, m := range p.queue(l) {
			if m.state == Pending && m.Unwritten != "" {
				unwritten = append(unwritten, m)
				continue
			}
			p.actOn(m)
		}
	}
	for _, m := range unwritten {
		p.actOn(m)
	}
	for i := range p.members {
		m := &p.members[i]
		if m.group == nil {
			p.actOn(m)
		}
		p.remove(m)
	}
}

// nextChunk is what thousands of clusters may wait for at once.
var nextChunk = fmt.Sprintf("admitted with the next %d clusters", chunk)

// actOn admits a cluster, refreshes it, or says what it waits for.
func (p *planner) actOn(m *member) {
	newcomer := p.newcomer(m)
	if m.state != Pending && !newcomer {
		p.refresh(m)
		return
	}
	why, blocked := p.ask(clusterGates, m)
	if !blocked {
		why, blocked = p.ask(limits, m)
	} else if newcomer {
		_, blocked = p.ask(limits, m)
	}
	switch {
	case blocked:
	case m.desired == "" && !newcomer:
		why, blocked = Hold{RenderFailed, "no deployment id was rendered for the cluster"}, true
		if m.RenderWaits != "" {
			why = Hold{ValuesMissing, short(m.RenderWaits)}
		}
	case p.taken == chunk && !newcomer:
		why, blocked = Hold{InProgress, nextChunk}, true
	case p.taken == chunk:
		blocked = true
	}
	if m.state == Pending {
		m.why = why
	}
	if !blocked {
		p.admit(m, newcomer)
	}
}

// admit takes a cluster, a newcomer to the last completed revision.
func (p *planner) admit(m *member, newcomer bool) {
	p.take(m)
	if p.paused != nil {
		m.why = *p.paused
		return
	}
	id, revision := m.desired, p.in.Revision
	switch {
	case newcomer:
		id, revision = m.CompletedID, p.in.Record.CompletedRevision
		if m.state == Pending {
			m.why.Sentence += "; until then it runs the last completed revision " + revision
		}
	case m.Unwritten != "":
		m.why = Hold{WorkRefused, short("the hub could not write the ManifestWork and tries again: " + m.Unwritten)}
	default:
		m.why = Hold{InProgress, "admitted now"}
	}
	m.acted = true
	p.out.Admit = append(p.out.Admit, Admit{
		Cluster: m.Name, Place: m.group.place(), ID: id, Revision: revision,
		MinSuccessTime: m.group.minSuccess, Stamps: Stamps{AdmittedAt: p.now, MemberSince: p.came(m)},
	})
}

// refresh writes an admitted cluster's work anew where it differs in anything but
// the id. Also while paused, as the pause itself is written this way.
func (p *planner) refresh(m *member) {
	if !m.stale || m.lane.held != nil || len(p.out.Refresh) == chunk {
		return
	}
	stamps := *m.stamps
	if m.Work.Place.Lane != m.lane.Name {
		stamps.MemberSince = p.came(m)
	}
	m.acted = true
	p.out.Refresh = append(p.out.Refresh, Refresh{
		Cluster: m.Name, Place: m.group.place(), MinSuccessTime: m.group.minSuccess, Stamps: stamps,
	})
}

// differs tells whether the work was written for another shape, soak or place.
func (p *planner) differs(m *member) bool {
	w := m.Work
	return w.Shape != m.DesiredShape || w.MinSuccessTime != m.group.minSuccess || w.Place != m.group.place()
}

// refreshable tells whether the cluster has the desired id and nothing about it is
// held, unknown or on its way out. Without its add-on nobody knows where the agent
// runs: a work that named another place would take the release away from the old one.
func (p *planner) refreshable(m *member) bool {
	if m.group == nil || p.held != nil || m.lane.held != nil || m.state == Pending {
		return false
	}
	known := m.wanted() && !m.hidden && !m.settling && m.RenderError == ""
	return known && m.Work != nil && m.Work.ID == m.desired && !m.Work.Deleting && m.AddOn == AddOnPresent
}

// stamp writes what the hub saw, unless another action carries it or the work goes.
func (p *planner) stamp(m *member) {
	if !m.changed || m.acted || m.Work.Deleting {
		return
	}
	p.out.Stamp = append(p.out.Stamp, Stamp{Cluster: m.Name, Stamps: *m.stamps})
}
