package rollout

import "fmt"

// flight counts the clusters of a group or a queue that are in flight.
type flight struct {
	// name of the limit, for sentences; limit is 0 for none.
	name  string
	limit int
	// count includes the taken, those that this plan admits.
	count, taken int
	// first are up to five of them.
	first []*member
	// full is the sentence for all that wait here.
	full string
}

// inFlight tells whether the cluster is not settled on whatever was admitted to it,
// however old that is. It has its slot already.
func (m *member) inFlight() bool { return m.flying }

func (f *flight) add(m *member) {
	f.count++
	if len(f.first) < 5 {
		f.first = append(f.first, m)
	}
}

func (f *flight) take(m *member) {
	f.taken++
	f.add(m)
}

// holds keeps a cluster back that would be one too many.
func (f *flight) holds(m *member) (Reason, string, bool) {
	if f.limit == 0 || f.count < f.limit || m.inFlight() {
		return "", "", false
	}
	if f.full == "" {
		f.full = fmt.Sprintf("%s is %d and %s in flight %s", f.name, f.limit, manyAre(f.count), namesOf(f.first, 5, f.count))
	}
	return MaxConcurrency, f.full, true
}

// limitFlight finds the lane's and its groups' limits once their members are counted.
func (l *lane) limitFlight() {
	for _, g := range l.groups {
		g.flight.name, g.flight.limit = "maxConcurrency of group "+g.label, atOnce(g.concurrency, g.size)
	}
	if l.Strategy.Type != Progressive {
		return
	}
	if q := l.Strategy.QueueConcurrency; q != nil {
		l.flight.name, l.flight.limit = "maxConcurrency of lane "+l.Name, atOnce(q, l.size)
		return
	}
	if l.view == nil {
		return
	}
	// What OCM's API documents as the default, and its library forgets. 100% and
	// nothing are no limit.
	per := l.view.believed.PerGroup
	if zero := scaleUp(per, 100) == 0; zero || per.StrVal == "100%" {
		return
	}
	l.flight.name, l.flight.limit = "clustersPerDecisionGroup of Placement "+l.Placement, atOnce(&per, l.size)
}

func groupConcurrency(_ *planner, m *member) (Reason, string, bool) { return m.group.flight.holds(m) }

func queueConcurrency(_ *planner, m *member) (Reason, string, bool) {
	if !m.group.queued() {
		return "", "", false
	}
	return m.lane.flight.holds(m)
}

// shownFlight is the limit to tell of a group and how many are in flight after the
// plan: the queue's where that is the smaller one.
func (p *planner) shownFlight(g *group) (limit, count int) {
	f := &g.flight
	if q := &g.lane.flight; g.queued() && q.limit >= 0 && (f.limit == 0 || q.limit <= f.limit) {
		f = q
	}
	limit, count = f.limit, f.count
	if p.paused != nil {
		count -= f.taken
	}
	if limit == 0 {
		limit = -1
	}
	return limit, count
}
