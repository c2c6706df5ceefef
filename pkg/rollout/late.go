package rollout

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// came is when the cluster came into its lane.
func (p *planner) came(m *member) time.Time {
	switch w := m.Work; {
	case w == nil || w.Place.Lane != m.lane.Name:
		// A lane that is new to the rollout has all those that it decides from the
		// start, however long it takes to write that into their works.
		return latest(m.Created, m.joined)
	case w.Stamps.MemberSince.IsZero():
		// A lost annotation must not make a late joiner of a member.
		return m.Created
	default:
		return w.Stamps.MemberSince
	}
}

// isLate tells whether the cluster came after its group was opened: it is admitted
// like the others and its failure counts, but nobody waits for it, so that joins
// cannot starve a rollout.
func (p *planner) isLate(m *member) bool {
	if m.group.openedAt.IsZero() || m.lane.Partitions != nil {
		return false
	}
	return p.came(m).After(m.group.openedAt)
}

// newcomerGates keep a cluster without a work even from the last completed revision.
var newcomerGates = []func(*planner, *member) (Reason, string, bool){
	keptAsItIs,
	noLongerSelected,
	notInPlacement,
	laneHeld,
	addOnDeleting,
	placeUnsettled,
}

// newcomer tells whether a cluster without a work runs the last completed revision
// until its group is open.
func (p *planner) newcomer(m *member) bool {
	done := p.in.Record.CompletedRevision
	if done == "" || done == p.in.Revision || p.out.Hold != nil || m.group == nil || m.Work != nil || m.CompletedID == "" {
		return false
	}
	if m.group.open && m.lane.breached == nil {
		return false
	}
	_, blocked := p.ask(newcomerGates, m)
	return !blocked
}

// ask returns what the first gate that blocks says.
func (p *planner) ask(gates []func(*planner, *member) (Reason, string, bool), m *member) (Hold, bool) {
	for _, gate := range gates {
		if reason, sentence, blocked := gate(p, m); blocked {
			return Hold{reason, sentence}, true
		}
	}
	return Hold{}, false
}

// queue is the order in which a lane's members ask for slots: those that have one
// already, so that a repair reaches the clusters that need it; the members that were
// there when their group was opened; and then whoever came later, the first first.
func (p *planner) queue(l *lane) []*member {
	var flying, after []*member
	rest := make([]*member, 0, l.total())
	if l.Partitions != nil {
		// Fleet's limits go by name alone.
		for _, g := range l.groups {
			rest = append(rest, g.members...)
		}
		return rest
	}
	for _, g := range l.groups {
		for _, m := range g.members {
			switch {
			case m.state == Pending && m.inFlight():
				flying = append(flying, m)
			case m.late || (m.state != Done && p.newcomer(m)):
				after = append(after, m)
			default:
				rest = append(rest, m)
			}
		}
	}
	if len(after) > 0 {
		slices.SortFunc(after, func(a, b *member) int {
			return cmp.Or(p.came(a).Compare(p.came(b)), strings.Compare(a.Name, b.Name))
		})
	}
	return append(append(flying, rest...), after...)
}
