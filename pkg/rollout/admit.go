package rollout

import (
	"fmt"
	"time"
)

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

func rolloutHeld(p *planner, _ *member) (Reason, string, bool) { return holds(p.out.Hold) }

func keptAsItIs(_ *planner, m *member) (Reason, string, bool) { return holds(m.kept) }

func noLongerSelected(_ *planner, m *member) (Reason, string, bool) {
	if m.selected || m.settling {
		return "", "", false
	}
	return NoLongerSelected, "the bundle does not select the cluster any more", true
}

func notInPlacement(_ *planner, m *member) (Reason, string, bool) {
	switch {
	case m.group != nil:
		return "", "", false
	case m.settling:
		return PlacementSettling, m.settleSentence(), true
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
func placeUnsettled(_ *planner, m *member) (Reason, string, bool) {
	switch {
	case m.settling:
		return PlacementSettling, m.settleSentence(), true
	case m.hidden && !m.Unreachable:
		return PlacementSettling, "the Placement's decisions do not show the cluster", true
	}
	return "", "", false
}

func (m *member) settleSentence() string {
	const changed = "the Placement's decisions on the cluster have just changed"
	if m.countsFrom.IsZero() {
		return changed
	}
	return changed + " and count from " + clock(m.countsFrom)
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
	fleetLimits,
}

// take counts a cluster that is admitted in the limits that follow.
func (p *planner) take(m *member) {
	m.group.next = append(m.group.next, m)
	m.group.budget.takes(m)
}

// queue is the order in which a lane's members ask for slots.
func (l *lane) queue() []*member {
	var out []*member
	for _, g := range l.groups {
		out = append(out, g.members...)
	}
	return out
}

// act decides on the actions, lane by lane.
func (p *planner) act() {
	for _, l := range p.lanes {
		for _, m := range l.queue() {
			p.actOn(m)
		}
	}
	for i := range p.members {
		m := &p.members[i]
		if m.group == nil {
			p.actOn(m)
		}
		p.remove(m)
	}
}

// actOn admits a cluster, refreshes it, or says what it waits for.
func (p *planner) actOn(m *member) {
	if m.state != Pending {
		p.refresh(m)
		return
	}
	for _, gate := range clusterGates {
		if reason, sentence, blocked := gate(p, m); blocked {
			m.why = Hold{reason, sentence}
			return
		}
	}
	for _, limit := range limits {
		if reason, sentence, blocked := limit(p, m); blocked {
			m.why = Hold{reason, sentence}
			return
		}
	}
	if m.desired == "" {
		m.why = Hold{RenderFailed, "no deployment id was rendered for the cluster"}
		return
	}
	if len(p.out.Admit) == chunk {
		m.why = Hold{InProgress, fmt.Sprintf("admitted with the next %d clusters", chunk)}
		return
	}
	m.why = Hold{InProgress, "admitted now"}
	if m.Unwritten != "" {
		m.why = Hold{WorkRefused, short("the hub could not write the ManifestWork and tries again: " + m.Unwritten)}
	}
	m.acted = true
	p.take(m)
	p.out.Admit = append(p.out.Admit, Admit{
		Cluster: m.Name, Place: m.group.place(), ID: m.desired, Revision: p.in.Revision,
		MinSuccessTime: m.lane.soak(), Stamps: Stamps{AdmittedAt: p.now, MemberSince: p.memberSince(m)},
	})
}

// memberSince is when the cluster came into its lane.
func (p *planner) memberSince(m *member) time.Time {
	switch w := m.Work; {
	case w != nil && w.Place.Lane == m.lane.Name && !w.Stamps.MemberSince.IsZero():
		return w.Stamps.MemberSince
	case w != nil:
		return p.now
	}
	return latest(m.Created, m.joined)
}

// refresh writes an admitted cluster's work anew where it differs in anything but
// the id. Also while paused, as the pause itself is written this way.
func (p *planner) refresh(m *member) {
	if !m.stale || m.lane.held != nil || len(p.out.Refresh) == chunk {
		return
	}
	stamps := *m.stamps
	if m.Work.Place.Lane != m.lane.Name {
		stamps.MemberSince = p.now
	}
	m.acted = true
	p.out.Refresh = append(p.out.Refresh, Refresh{
		Cluster: m.Name, Place: m.group.place(), MinSuccessTime: m.lane.soak(), Stamps: stamps,
	})
}

// differs tells whether the work was written for another shape, soak or place.
func (p *planner) differs(m *member) bool {
	w := m.Work
	return w.Shape != m.DesiredShape || w.MinSuccessTime != m.lane.soak() || w.Place != m.group.place()
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
	if m.Work == nil || m.acted || m.stamps == &m.Work.Stamps || m.Work.Deleting {
		return
	}
	p.out.Stamp = append(p.out.Stamp, Stamp{Cluster: m.Name, Stamps: *m.stamps})
}
