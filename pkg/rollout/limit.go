package rollout

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// defaultMaxNew is Fleet's size of a batch of first installs.
const defaultMaxNew = 50

// Limit is what a limit of Fleet's rolloutStrategy comes to of so many clusters or
// partitions; nil is all of them. One that the API would not take is 0.
func Limit(count int, value *intstr.IntOrString) int {
	if count <= 0 {
		return 0
	}
	return limit(count, value)
}

// limit is a validated number or percentage of count: a number at most count, a
// percentage rounded down but at least 1. Without a value it is all of them.
func limit(count int, value *intstr.IntOrString) int {
	if count <= 0 {
		return 1
	}
	if value == nil {
		return count
	}
	n, percent, err := readLimit(*value)
	switch {
	case err != nil:
		return 0 // Sources are validated: this only keeps the plan from guessing.
	case !percent:
		return int(min(n, float64(count)))
	case n >= 100:
		return count
	}
	return max(1, int(float64(count)*n)/100)
}

// readLimit reads a number or a percentage. A number as a string is that number, as
// in Fleet, and a percentage may have a fraction.
func readLimit(v intstr.IntOrString) (n float64, percent bool, err error) {
	if v.Type == intstr.Int {
		n = float64(v.IntValue())
	} else {
		var digits string
		digits, percent = strings.CutSuffix(v.StrVal, "%")
		n, err = strconv.ParseFloat(digits, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || (!percent && n != math.Trunc(n)) {
			return 0, false, errors.New("must be a number such as 5, or a percentage such as 10%")
		}
	}
	if n < 0 {
		return 0, false, errors.New("must not be negative")
	}
	return n, percent, nil
}

// unlimited tells whether a value is 100% or more, which never holds anything.
func unlimited(v *intstr.IntOrString) bool {
	if v == nil {
		return true
	}
	n, percent, err := readLimit(*v)
	return err == nil && percent && n >= 100
}

// budget is what Fleet's limits leave in one group.
type budget struct {
	// most clusters may be unavailable; endless is true where that is all of them,
	// those included that join.
	most    int
	endless bool
	// down are the clusters that are admitted and not successful, those that the plan
	// admits included.
	down []*member
	// works counts the clusters with a work, maxNew of them are installed in a batch.
	works, maxNew int
	// whole is the budget of all partitions together; nil in another source's group.
	whole *budget
	// notReady is true while more clusters of a partition are not up to date than may
	// be unavailable.
	notReady bool
	// newStop and oldStop are what first installs and updates are told while nothing
	// more is admitted: said once, not for each of ten thousand clusters.
	newStop, oldStop Hold
}

// unavailable tells whether a cluster is admitted and not successful, whatever was
// admitted to it.
func (m *member) unavailable() bool { return !m.success && m.Work != nil }

// budgets counts what the bundle's own limits leave in the groups of another source.
// A failure that maxFailures tolerates takes no part of maxUnavailable: the group
// would wait for it for ever.
func (p *planner) budgets() {
	limits := p.in.Source.Limits
	if limits == nil {
		return
	}
	for _, l := range p.lanes {
		if l.Partitions != nil {
			continue
		}
		for _, g := range l.groups {
			g.budget = newBudget(g.members, limit(len(g.members), limits.MaxUnavailable), limits.MaxUnavailable, limits.MaxNew)
			for _, m := range g.members {
				if m.unavailable() && !m.state.Failure() {
					g.budget.down = append(g.budget.down, m)
				}
			}
		}
	}
}

// newBudget of a group's members; whoever is down is for the caller to say.
func newBudget(members []*member, most int, value *intstr.IntOrString, maxNew *int) *budget {
	b := &budget{most: most, endless: unlimited(value), maxNew: defaultMaxNew}
	if maxNew != nil {
		b.maxNew = *maxNew
	}
	for _, m := range members {
		if m.Work != nil {
			b.works++
		}
	}
	return b
}

// spare tells whether one more cluster may become unavailable. With a maximum of 0
// one may while no other is.
func (b *budget) spare() bool {
	return b.endless || len(b.down) < max(1, b.most)
}

// fleetLimits are Fleet's maxNew and maxUnavailable: first installs in batches, updates
// only while enough clusters are available. One that is not available already is
// updated at once: that can only help.
func fleetLimits(_ *planner, m *member) (Reason, string, bool) {
	b := m.group.budget
	switch {
	case b == nil:
		return "", "", false
	case m.Work == nil:
		return holds(b.stopsNew(m.group))
	case m.unavailable():
		return "", "", false
	}
	return holds(b.stopsUpdate(m.group))
}

// stopsNew says why no further first install goes out, nil if one does. Between two
// multiples of maxNew nobody looks: a batch that was begun is finished, by another
// manager too after a crash.
func (b *budget) stopsNew(g *group) *Hold {
	switch {
	case b.newStop != (Hold{}):
	case b.maxNew == 0:
		b.newStop = Hold{MaxNew, fmt.Sprintf("maxNew is 0: %s gets no first installs until the bundle's spec.rolloutStrategy.maxNew is raised", g.called())}
	case b.works%b.maxNew != 0 || b.works == 0 || b.spare():
		return nil
	default:
		b.newStop = Hold{MaxNew, fmt.Sprintf("the next %d first installs of %s wait: %s", b.maxNew, g.called(), b.sentence())}
	}
	return &b.newStop
}

// stopsUpdate says why no available cluster is updated, nil if one is. A partition
// with a maximum of 0 looks at the other partitions too.
func (b *budget) stopsUpdate(g *group) *Hold {
	switch {
	case b.oldStop != (Hold{}):
	case !b.spare():
		b.oldStop = Hold{MaxUnavailable, fmt.Sprintf("%s: %s", g.called(), b.sentence())}
	case b.whole != nil && b.most == 0 && !b.endless && len(b.whole.down) > 0:
		b.oldStop = Hold{MaxUnavailable, fmt.Sprintf("%s: its %s; elsewhere in the bundle %s unavailable %s",
			g.called(), oneByOne, manyAre(len(b.whole.down)), names(b.whole.down, 5))}
	case b.whole != nil && !b.whole.spare():
		b.oldStop = Hold{MaxUnavailable, "the whole bundle: " + b.whole.sentence()}
	default:
		return nil
	}
	return &b.oldStop
}

// oneByOne is what a maximum of 0 means.
const oneByOne = "maxUnavailable is 0, so one cluster follows at a time and only while no other is unavailable"

// sentence says who takes the budget.
func (b *budget) sentence() string {
	many := fmt.Sprintf("%s unavailable %s", manyAre(len(b.down)), names(b.down, 5))
	if b.most == 0 {
		return many + ", " + oneByOne
	}
	return fmt.Sprintf("%s, maxUnavailable is %d", many, b.most)
}

// takes counts a cluster that is admitted.
func (b *budget) takes(m *member) {
	if b == nil {
		return
	}
	if m.Work == nil {
		b.works++
	}
	if !m.unavailable() {
		b.down = append(b.down, m)
		if b.whole != nil {
			b.whole.down = append(b.whole.down, m)
		}
	}
}

// tellBudget adds a group's limits to what is told of it, with the numbers after the
// plan.
func (g *group) tellBudget(r *GroupResult) {
	if r.MaxUnavailable = -1; g.budget != nil {
		r.MaxUnavailable = g.budget.most
	}
	for _, m := range g.members {
		if m.unavailable() || (m.acted && m.state == Pending) {
			r.Unavailable++
		}
	}
}
