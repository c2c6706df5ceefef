package rollout

import (
	"cmp"
	"fmt"
	"time"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// DefaultLane and DefaultGroup name the one group of a rollout without a Placement.
const (
	DefaultLane  = "default"
	DefaultGroup = "All"
)

// standing is where a cluster stands and what the latest decisions say of it.
type standing struct {
	lane *lane
	key  GroupKey
	// hidden is true while its lane's decisions do not show the cluster.
	hidden bool
	// settling is true while the decisions show it somewhere else, or nowhere, and
	// that does not count yet.
	settling bool
	joined   time.Time
}

// locate finds a cluster's lane and group. What has just changed does not count
// yet, so that a wrong snapshot moves nobody.
func (p *planner) locate(m *member) {
	own := p.ownLane(m)
	best, shown, hidden := p.decided(m, own)
	m.seen = shown >= 0
	gone, dark := p.absence(m, hidden)
	switch {
	case own > best && dark && m.fineBefore():
		m.kept = &Hold{Unreachable, "the cluster is unreachable: it is kept as it is"}
		best = -1
	case own > best && (dark || !gone):
		best = own
		m.remembered(p.lanes[own], hidden)
	case best >= 0:
		m.lane, m.key = p.lanes[best], p.lanes[best].resolve(m.key)
	}
	m.settling = m.settling || (m.seen && shown != best)
	m.selected = m.wanted() && (best >= 0 || m.kept != nil || !p.in.Source.ImplicitTargets)
	if best < 0 || !m.counts() {
		m.lane = nil
		return
	}
	m.group = m.lane.groupFor(m.key)
}

// ownLane is the lane of the cluster's work; -1 if there is none.
func (p *planner) ownLane(m *member) int {
	if m.Work == nil || !m.Exists {
		return -1
	}
	lane := m.Work.Place.Lane
	if len(p.lanes) == 1 && lane == p.lanes[0].Name {
		return 0
	}
	if i, ok := p.laneOf[lane]; ok {
		return i
	}
	return -1
}

// fineBefore tells whether the cluster has an older id than the desired one and was
// once Done on it: one that drops out because it is unreachable then blocks nothing.
// Any other goes on counting, so that a change that kills a group's network keeps
// the later ones closed.
func (m *member) fineBefore() bool {
	return m.Work.ID != m.desired && !m.Work.Stamps.DoneAt.IsZero()
}

// counts tells whether the cluster is a member where it stands: a target selects it,
// or it has a work and the decisions miss it, or its own label or set has just changed and nobody has
// confirmed that yet: a relabel is often two writes, and the decisions follow later.
func (m *member) counts() bool {
	return m.Exists && (m.Selected || (m.Work != nil && m.hidden) || m.leaving())
}

// leaving tells whether the cluster has a work and was deselected for less than the
// grace. For one that is unreachable no grace runs: who deselects it means it.
func (m *member) leaving() bool {
	return m.Work != nil && !m.Selected && !m.removable && !m.Unreachable
}

// remembered puts a cluster where its work says.
func (m *member) remembered(l *lane, hidden bool) {
	m.standing = standing{lane: l, key: l.resolve(m.Work.Place.GroupKey), hidden: hidden}
	if l.view != nil && !hidden {
		m.settling = l.view.placing(m.Name).seen != m.key
	}
}

// decided returns the last lane that decides the cluster, settled, and the last one
// whose latest decisions show it; -1 for none. hidden is true if its own lane's
// latest decisions do not show it.
func (p *planner) decided(m *member, own int) (best, shown int, hidden bool) {
	best, shown = -1, -1
	for i := len(p.lanes) - 1; i >= 0; i-- {
		at := p.sight(p.lanes[i], m)
		hidden = hidden || (i == own && !at.shown)
		if at.shown && shown < 0 {
			shown = i
		}
		if at.in && best < 0 {
			best = i
			m.key, m.joined, m.hidden, m.settling = at.key, at.joined, !at.shown, !at.agrees
		}
	}
	return best, shown, hidden
}

// laneSight is what one lane knows of a cluster: where it counts as being, whether
// the latest decisions show it, and whether they agree with that.
type laneSight struct {
	key               GroupKey
	in, shown, agrees bool
	joined            time.Time
}

func (p *planner) sight(l *lane, m *member) laneSight {
	if l.view == nil {
		return laneSight{key: GroupKey{Name: DefaultGroup}, in: m.wanted(), shown: m.wanted(), agrees: true}
	}
	v, pl := l.view, l.view.placing(m.Name)
	settled := pl.settled(v, v.asOf(p.now))
	if !settled {
		p.at(pl.settlesAt(v))
	}
	at := laneSight{key: pl.seen, in: pl.in, shown: pl.in, agrees: true, joined: pl.joined}
	if !settled {
		at.key, at.in = pl.was, pl.wasKnown && pl.wasIn
		at.agrees = pl.in && pl.was == pl.seen
	}
	return at
}

// countsFrom is when decisions on a cluster that have just changed count; zero if no
// time alone makes them.
func (p *planner) countsFrom(m *member) time.Time {
	var from time.Time
	for _, l := range p.lanes {
		if l.view == nil {
			continue
		}
		if pl := l.view.placing(m.Name); !pl.settled(l.view, l.view.asOf(p.now)) {
			from = latest(from, pl.settlesAt(l.view))
		}
	}
	return from
}

// hiddenKey is the timer in Absent of a cluster that its own lane does not show. No
// name of a ManagedCluster has a slash.
func hiddenKey(cluster string) string { return "hidden/" + cluster }

// absence runs the timers of a cluster with a work that its lane does not show, or
// that nobody selects. gone is true once its absence from its lane is confirmed,
// dark while it cannot be because the cluster is unreachable.
func (p *planner) absence(m *member, hidden bool) (gone, dark bool) {
	if m.Work == nil || !m.Exists {
		return false, false
	}
	if m.Unreachable {
		return false, hidden
	}
	if p.unselected(m) {
		m.removable = p.confirmed(m.Name)
	}
	return hidden && p.confirmed(hiddenKey(m.Name)), false
}

// confirmed starts or reads a timer, and tells whether the grace is over. While the
// input cannot be believed no timer runs.
func (p *planner) confirmed(key string) bool {
	if p.held != nil {
		return false
	}
	since, ok := p.in.Absent[key]
	if !ok {
		since = p.now
	}
	p.out.Absent[key] = since
	end := since.Add(p.in.RemovalGrace)
	p.at(end)
	return !p.now.Before(end)
}

// unselected tells whether the bundle has no business on the cluster as far as the
// latest reading goes.
func (p *planner) unselected(m *member) bool {
	return !m.Selected || (p.in.Source.ImplicitTargets && !m.seen)
}

// resolve maps a remembered group that the decisions do not have any more to the
// last one of its name.
func (l *lane) resolve(key GroupKey) GroupKey {
	if key.Index == 0 {
		return key
	}
	if n := l.sizes[key.Name]; n > 0 && key.Index >= n {
		key.Index = n - 1
	}
	return key
}

func (l *lane) groupFor(key GroupKey) *group {
	if l.found != nil && l.found.GroupKey == key {
		return l.found // Often the same as for the cluster before.
	}
	g := l.byKey[key]
	if g == nil {
		g = &group{GroupKey: key, lane: l, settings: l.settingsOf(key.Name), openedAt: l.opened[key]}
		l.byKey[key] = g
		l.groups = append(l.groups, g)
	}
	l.found = g
	return g
}

// join adds a member, in name order. Partitions are made anew once all are known.
func (g *group) join(m *member) {
	if g.lane.Partitions == nil {
		g.members = append(g.members, m)
	}
}

// Unmatched is what people read for the clusters of no declared group.
const Unmatched = "(unmatched)"

// shownGroup is a group's name as people read it.
func shownGroup(name string) string { return cmp.Or(name, Unmatched) }

// PlaceOf is the place of a group that a status shows.
func PlaceOf(lane string, g *v1alpha1.GroupStatus) Place {
	key := GroupKey{Name: g.Name, Index: int(g.Index)}
	if key.Name == Unmatched {
		key.Name = ""
	}
	return Place{Lane: lane, GroupKey: key}
}

// Label is the group's name as people read it, with its place where it is not the
// first of that name.
func (k GroupKey) Label() string {
	if k.Index == 0 {
		return shownGroup(k.Name)
	}
	return fmt.Sprintf("%s[%d]", shownGroup(k.Name), k.Index)
}
