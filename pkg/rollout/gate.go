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

// gate computes which groups pass, are open or breached. A group is open only while
// every earlier one passes now.
func (p *planner) gate() {
	for _, l := range p.lanes {
		if l.Partitions != nil {
			p.gatePartitions(l)
			continue
		}
		for _, g := range l.groups {
			g.label = g.GroupKey.label()
			if len(p.lanes) > 1 {
				g.label = l.Name + "/" + g.label
			}
			g.open = l.Strategy.Type == All || l.current == nil
			g.count()
			if l.current == nil && !g.passed {
				l.current = g
			}
			if g.failures > g.max && l.breached == nil {
				l.breached = g
			}
		}
		l.explain()
	}
	p.budgets()
}

// count judges a group by its members. Who has not to be waited for, such as a
// cluster that joined late, would be left out here.
func (g *group) count() {
	g.max = g.maxFailures()
	for _, m := range g.members {
		g.counts.add(m.state)
		switch {
		case m.state.Failure() && (g.open || m.RenderError == ""):
			g.failing = append(g.failing, m)
		case !m.state.Settled():
			g.holding = append(g.holding, m)
		}
		g.endless = g.endless || (m.state == Progressing && m.until.IsZero())
		if !m.until.IsZero() {
			if g.nextAt.IsZero() || m.until.Before(g.nextAt) {
				g.nextAt = m.until
			}
			switch {
			case m.state == Soaking && !m.overdue:
				g.soaksTo = latest(g.soaksTo, m.until)
			case m.state == Progressing:
				g.failsAt = latest(g.failsAt, m.until)
			}
		}
	}
	g.failures = len(g.failing)
	g.passed = len(g.holding) == 0 && g.failures <= g.max
}

// maxFailures in clusters: a percentage is rounded up, and more than the group has
// tolerates all of them.
func (g *group) maxFailures() int {
	size := len(g.members)
	switch s := g.lane.Strategy; {
	case s.Type == All:
		return size
	case g.mandatory:
		return 0
	default:
		return min(size, scaleUp(s.MaxFailures, size))
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
