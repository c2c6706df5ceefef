package rollout

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// sortGroups puts a lane's groups in order: mandatory ones first in a strategy that
// has them, each part in the Placement's order.
func (l *lane) sortGroups() {
	if l.Partitions != nil {
		return // They are in order already.
	}
	keys := make([]GroupKey, len(l.groups))
	for i, g := range l.groups {
		keys[i] = g.GroupKey
	}
	declared := Snapshot{}
	if l.view != nil {
		declared = l.view.believed
	}
	declared.sortGroups(keys)
	for i, key := range keys {
		l.groups[i] = l.byKey[key]
		for _, m := range l.Strategy.Mandatory {
			l.groups[i].mandatory = l.groups[i].mandatory || (l.view != nil && m.matches(l, key))
		}
	}
	slices.SortStableFunc(l.groups, func(a, b *group) int {
		switch {
		case a.mandatory == b.mandatory:
			return 0
		case a.mandatory:
			return -1
		}
		return 1
	})
}

// gate computes which groups pass, are open or breached.
func (p *planner) gate() {
	for _, l := range p.lanes {
		if l.Partitions != nil {
			p.gatePartitions(l)
			continue
		}
		for _, g := range l.groups {
			g.label = g.Label()
			if len(p.lanes) > 1 {
				g.label = l.Name + "/" + g.label
			}
			g.open = l.opens(g)
			g.count()
			l.size += g.size
			if l.current == nil && !g.passed {
				l.current = g
			}
			if g.over && l.breached == nil {
				l.breached = g
			}
		}
		if l.Strategy.Type == Progressive {
			l.judgeQueue()
		}
		l.limitFlight()
		l.explain()
	}
	p.budgets()
}

// opens tells whether the next group is open: all at once with All, the queue of
// Progressive while every mandatory group passes now, any other group while every
// earlier one does.
func (l *lane) opens(g *group) bool {
	if l.Strategy.Type == All || l.current == nil {
		return true
	}
	return g.queued() && !l.current.mandatory
}

// count judges a group by its members. Nobody waits for late joiners, but their
// failures count.
func (g *group) count() {
	for _, m := range g.members {
		g.counts.add(m.state)
		if m.inFlight() {
			g.flight.add(m)
			if g.queued() {
				g.lane.flight.add(m)
			}
		}
		failed := m.state.Failure() && (g.open || m.RenderError == "")
		if failed {
			g.failing = append(g.failing, m)
		}
		switch {
		case m.late:
			g.late++
			if !m.state.Settled() {
				g.lagging = append(g.lagging, m)
			}
		case !failed && !m.state.Settled():
			g.holding = append(g.holding, m)
		}
		g.times(m)
	}
	g.size = len(g.members) - g.late
	g.failures, g.max = len(g.failing), g.maxFailures()
	g.over = g.failures > g.max
	g.passed = len(g.holding) == 0 && !g.over
}

// times notes when soaks and deadlines of those end that the group waits for.
func (g *group) times(m *member) {
	g.endless = g.endless || (m.state == Progressing && m.until.IsZero() && !m.late)
	if m.until.IsZero() {
		return
	}
	if g.nextAt.IsZero() || m.until.Before(g.nextAt) {
		g.nextAt = m.until
	}
	switch {
	case m.late:
	case m.state == Soaking && !m.overdue:
		g.soaksTo = latest(g.soaksTo, m.until)
	case m.state == Progressing:
		g.failsAt = latest(g.failsAt, m.until)
	}
}

// judgeQueue counts the failures of the whole lane, which is breached where they are
// more than the strategy tolerates.
func (l *lane) judgeQueue() {
	for _, g := range l.groups {
		l.failures += g.failures
		l.failing = append(l.failing, g.failing...)
	}
	l.max = tolerated(l.Strategy.MaxFailures, l.size, l.total())
	l.current, l.breached = nil, nil
	for _, g := range l.groups {
		if g.queued() && g.tolerates == nil {
			g.max = l.max
		}
		if l.failures > l.max && g.failures > 0 {
			g.over, g.passed = true, false
		}
		if l.current == nil && !g.passed {
			l.current = g
		}
		if l.breached == nil && g.over {
			l.breached = g
		}
	}
}

// scaleUp is a validated number, or a percentage of total rounded up.
func scaleUp(v intstr.IntOrString, total int) int {
	if v.Type == intstr.Int {
		return v.IntValue()
	}
	percent, err := strconv.Atoi(strings.TrimSuffix(v.StrVal, "%"))
	if err != nil {
		return 0
	}
	return (percent*total + 99) / 100
}

// explain says once for each group what its waiting clusters wait for.
func (l *lane) explain() {
	if b := l.breached; b != nil {
		b.breach = Hold{FailureBudgetExceeded, fmt.Sprintf("stopped at group %s: %s", b.label, b.failureSentence())}
	}
	if l.current == nil {
		return
	}
	waiting := Hold{WaitingForGroup, fmt.Sprintf("waiting for group %s: %s", l.current.label, l.current.progressSentence())}
	for _, g := range l.groups {
		if !g.open {
			g.closed = waiting
		}
	}
}

func (c *Counts) add(s State) {
	c.Total++
	switch s {
	case Pending:
		c.Pending++
	case Progressing:
		c.Progressing++
	case Soaking:
		c.Soaking++
	case Done:
		c.Done++
	case Failed:
		c.Failed++
	case TimedOut:
		c.TimedOut++
	case Recovering:
		c.Recovering++
	}
}

// total counts the lane's members.
func (l *lane) total() int {
	n := 0
	for _, g := range l.groups {
		n += len(g.members)
	}
	return n
}
