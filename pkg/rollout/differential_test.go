package rollout

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// scene is a random fleet in the words that both planners are asked with.
type scene struct {
	strategy Strategy
	clusters []sceneCluster
	groups   int
}

type sceneCluster struct {
	name, state string
	group       int
}

func (s scene) rows() []string {
	out := make([]string, len(s.clusters))
	for i, c := range s.clusters {
		out[i] = fmt.Sprintf("%s g%d %s", c.name, c.group, c.state)
	}
	return out
}

// sceneStates with how often they come: a rollout mostly goes well, in group order.
var sceneStates = []string{"-", "-", "-", "Old", "Progressing", "Soaking", "Done", "Done", "Done", "Failed", "TimedOut", "Late", "FailedLate", "Recovering"}

// newScene draws a fleet. Half of them are as a rollout leaves them while nothing moves
// between the groups: done groups, one under way, closed ones.
func newScene(r *rand.Rand, kind StrategyType) scene {
	s := scene{groups: 1 + r.Intn(4), strategy: Strategy{Type: kind, MinSuccessTime: testSoak, ProgressDeadline: testDeadline}}
	if r.Intn(4) == 0 {
		s.strategy.ProgressDeadline = 0
	}
	s.strategy.MaxFailures = intstr.Parse([]string{"0", "0", "1", "2", "3", "1%", "34%", "50%", "100%", "0%"}[r.Intn(10)])
	for r.Intn(3) == 0 && kind != All {
		s.mandatory(r)
	}
	if kind == Progressive && r.Intn(4) > 0 {
		limit := intstr.Parse([]string{"1", "2", "3", "25%", "50%", "100%"}[r.Intn(6)])
		s.strategy.QueueConcurrency = &limit
	}
	orderly, trouble, at := r.Intn(2) == 0, r.Intn(3) == 0, r.Intn(s.groups)
	mixed := r.Intn(8) == 0
	for g := range s.groups {
		for i := range 1 + r.Intn(4) {
			name := fmt.Sprintf("g%d-%d", g, i)
			if mixed {
				name = fmt.Sprintf("%d-%d", (g*7+i*3)%5, g*10+i)
			}
			state := sceneStates[r.Intn(len(sceneStates))]
			if orderly {
				state = orderlyState(r, g, at, trouble)
			}
			s.clusters = append(s.clusters, sceneCluster{name, state, g})
		}
	}
	return s
}

func (s *scene) mandatory(r *rand.Rand) {
	m := MandatoryGroup{Name: fmt.Sprintf("g%d", r.Intn(s.groups))}
	switch r.Intn(8) {
	case 0:
		m = MandatoryGroup{Index: r.Intn(s.groups)}
	case 1:
		m = MandatoryGroup{Name: "gone"}
	}
	if !slices.Contains(s.strategy.Mandatory, m) {
		s.strategy.Mandatory = append(s.strategy.Mandatory, m)
	}
}

func orderlyState(r *rand.Rand, group, at int, trouble bool) string {
	switch {
	case group > at:
		return "-"
	case group < at && trouble && r.Intn(4) == 0:
		return []string{"Failed", "FailedLate"}[r.Intn(2)]
	case group < at:
		return "Done"
	case trouble:
		return []string{"-", "Progressing", "Soaking", "Done", "Failed"}[r.Intn(5)]
	}
	return []string{"-", "Progressing", "Soaking", "Done", "Done"}[r.Intn(5)]
}

// any tells whether a cluster is in one of these states, in a group that fits.
func (s scene) any(fits func(group int) bool, states ...string) bool {
	return slices.ContainsFunc(s.clusters, func(c sceneCluster) bool { return fits(c.group) && slices.Contains(states, c.state) })
}

func (s scene) count(group int, states ...string) int {
	n := 0
	for _, c := range s.clusters {
		if c.group == group && (len(states) == 0 || slices.Contains(states, c.state)) {
			n++
		}
	}
	return n
}

func everywhere(int) bool { return true }

func (s scene) isMandatory(group int) bool {
	return slices.ContainsFunc(s.strategy.Mandatory, func(m MandatoryGroup) bool {
		return m.Name == fmt.Sprintf("g%d", group) || (m.Name == "" && m.Index == group)
	})
}

func (s scene) isRest(group int) bool { return !s.isMandatory(group) }

// hasMandatory tells whether the library finds a mandatory group, so that it makes the
// pass over them, with the rows of all clusters.
func (s scene) hasMandatory() bool {
	for g := range s.groups {
		if s.isMandatory(g) {
			return true
		}
	}
	return false
}

// failures are states that the library counts, ours besides Recovering.
var failures = []string{"Failed", "TimedOut", "FailedLate", "Late"}

func (s scene) failures() []string {
	if s.strategy.ProgressDeadline == 0 {
		return failures[:3]
	}
	return failures
}

// flying are states that are in flight in the library's eyes.
func (s scene) flying() []string {
	if s.strategy.ProgressDeadline == 0 {
		return []string{"Progressing", "Soaking", "Recovering", "Failed", "FailedLate", "Late"}
	}
	return []string{"Progressing", "Soaking", "Recovering", "Failed"}
}

// timedOut are states that the library counts and does not keep in flight.
func (s scene) timedOut() []string {
	if s.strategy.ProgressDeadline == 0 {
		return []string{"TimedOut"}
	}
	return []string{"TimedOut", "Late", "FailedLate"}
}

// tolerated are the failures that a group may have, as the library's documentation says.
func (s scene) tolerated(group int) int {
	size := s.count(group)
	if s.isMandatory(group) {
		return 0
	}
	return min(size, scaleUp(s.strategy.MaxFailures, size))
}

// breached tells whether a group has more failures than it tolerates.
func (s scene) breached(group int) bool {
	return s.count(group, s.failures()...) > s.tolerated(group)
}

// differences are the rows of the defect table that explain why the library admits
// other clusters, each with the inputs on which it may.
var differences = []struct {
	row  string
	only []StrategyType
	on   func(scene) bool
}{
	{"P1, P1b, P1c, P1d: a cluster that timed out cancels one that is in flight", []StrategyType{ProgressivePerGroup}, scene.cancels},
	{"P2: maxFailures above the size tolerates nothing", []StrategyType{ProgressivePerGroup, Progressive}, func(s scene) bool {
		for g := range s.groups {
			size := s.count(g)
			if s.strategy.Type == Progressive {
				size = len(s.clusters)
			}
			if s.isRest(g) && s.strategy.MaxFailures.Type == intstr.Int && s.strategy.MaxFailures.IntValue() > size && s.count(g, s.failures()...) > 0 {
				return true
			}
		}
		return false
	}},
	{"P4: a cluster behind the mandatory groups that just timed out holds its group", []StrategyType{ProgressivePerGroup, Progressive}, func(s scene) bool {
		return s.hasMandatory() && s.strategy.ProgressDeadline > 0 && s.any(s.isRest, "Late", "FailedLate")
	}},
	{"P4d, P4e: a cluster behind the mandatory groups that is in flight holds everything", []StrategyType{ProgressivePerGroup, Progressive}, func(s scene) bool {
		return s.hasMandatory() && s.any(s.isRest, s.flying()...)
	}},
	{"P6: a mandatory group that timed out is passed by", []StrategyType{ProgressivePerGroup, Progressive}, func(s scene) bool {
		return s.any(s.isMandatory, "TimedOut")
	}},
	{"S1: a breach goes on with the rest of its group", []StrategyType{ProgressivePerGroup, Progressive}, func(s scene) bool {
		for g := range s.groups {
			if (s.strategy.Type == ProgressivePerGroup || s.isMandatory(g)) && s.breached(g) && s.count(g, "-", "Old") > 0 {
				return true
			}
		}
		return false
	}},
	{"S2: what is in flight behind the first group holds all that follows", []StrategyType{ProgressivePerGroup, Progressive}, scene.stalls},
	{"S1: a breach in a later group holds nothing", []StrategyType{ProgressivePerGroup, Progressive}, scene.breachBehind},
	{"1.3: a cluster that recovers is in flight, and its failure forgotten", []StrategyType{ProgressivePerGroup, Progressive}, func(s scene) bool {
		return s.any(everywhere, "Recovering")
	}},
	{"T4: a mandatory group that does not exist is ignored", []StrategyType{ProgressivePerGroup, Progressive}, func(s scene) bool {
		return slices.ContainsFunc(s.strategy.Mandatory, func(m MandatoryGroup) bool { return m.Name == "gone" })
	}},
	{"1.5: a percentage in maxConcurrency is of the clusters that are not mandatory", []StrategyType{Progressive}, func(s scene) bool {
		c := s.strategy.QueueConcurrency
		return s.hasMandatory() && c != nil && c.Type == intstr.String
	}},
	{"1.5: the queue goes by name alone", []StrategyType{Progressive}, func(s scene) bool {
		return !slices.IsSortedFunc(s.clusters, func(a, b sceneCluster) int { return strings.Compare(a.name, b.name) })
	}},
	{"Q1, Q2: rows that are to be applied take slots, and hide later failures", []StrategyType{Progressive}, func(s scene) bool {
		return s.any(everywhere, "Old")
	}},
	{"Q3: a cluster that failed keeps its slot until it times out", []StrategyType{Progressive}, func(s scene) bool {
		return s.any(everywhere, "Failed") || (s.strategy.ProgressDeadline == 0 && s.any(everywhere, "FailedLate"))
	}},
}

// passes are the groups as the library goes through them, mandatory ones first. The
// queue of Progressive is no pass over groups.
func (s scene) passes() [2][]int {
	var out [2][]int
	for g := range s.groups {
		switch {
		case s.isMandatory(g):
			out[0] = append(out[0], g)
		case s.strategy.Type == ProgressivePerGroup:
			out[1] = append(out[1], g)
		}
	}
	return out
}

// cancels tells whether a pass has a cluster that timed out, then or before one to be
// applied, or one anywhere that is in flight, and after these one to be applied.
func (s scene) cancels() bool {
	for _, pass := range s.passes() {
		timedOut, unsettled := false, s.any(everywhere, s.flying()...)
		for _, g := range pass {
			waits := s.count(g, "-", "Old") > 0
			if waits && timedOut && unsettled {
				return true
			}
			timedOut = timedOut || s.count(g, s.timedOut()...) > 0
			unsettled = unsettled || waits
		}
	}
	return false
}

// stalls tells whether something is in flight behind the first group of a pass, where
// the library stops at that one and never comes to clusters that wait further on, be it
// in the same group.
func (s scene) stalls() bool {
	for _, pass := range s.passes() {
		flying, behind := false, false
		for i, g := range pass {
			flying = flying || (i > 0 && s.count(g, s.flying()...) > 0)
			behind = behind || (i > 0 && s.count(g, "-", "Old") > 0)
		}
		if flying && behind {
			return true
		}
	}
	return false
}

// queueBreached tells whether the whole lane has more failures than its queue tolerates.
func (s scene) queueBreached() bool {
	failed, size := 0, len(s.clusters)
	for g := range s.groups {
		failed += s.count(g, s.failures()...)
	}
	return s.strategy.Type == Progressive && failed > min(size, scaleUp(s.strategy.MaxFailures, size))
}

// breachBehind tells whether a group, or the queue, is breached behind a group that has
// clusters to apply.
func (s scene) breachBehind() bool {
	waiting, passes := false, s.passes()
	for _, g := range slices.Concat(passes[0], passes[1]) {
		if waiting && s.breached(g) {
			return true
		}
		waiting = waiting || s.count(g, "-", "Old") > 0
	}
	return waiting && s.queueBreached()
}

// scenes that each strategy is compared on.
const scenes = 20_000

// TestDifferential compares what this planner and the library of OCM's sdk-go admit, in
// random fleets: the same, but where a row of the table of the library's defects is
// about. Every row has to be met, so that none outlives its defect.
func TestDifferential(t *testing.T) {
	for _, kind := range []StrategyType{All, ProgressivePerGroup, Progressive} {
		t.Run(string(kind), func(t *testing.T) {
			r := rand.New(rand.NewSource(1))
			met := map[string]int{}
			alone, same := map[string]int{}, 0
			for range scenes {
				s := newScene(r, kind)
				explained := explain(s)
				ours, theirs := bothAdmit(s)
				switch {
				case ours != theirs && len(explained) == 0:
					t.Fatalf("%s %+v\n%s\nthis planner admits %q, the library %q, and no row explains why", kind, s.strategy, strings.Join(s.rows(), "\n"), ours, theirs)
				case ours != theirs:
					for _, row := range explained {
						met[row]++
					}
					if len(explained) == 1 {
						alone[explained[0]]++
					}
				case ours != "" && len(explained) == 0:
					same++
				}
			}
			if same < scenes/10 {
				t.Errorf("only %d of %d scenes admit something where no row is about", same, scenes)
			}
			for _, d := range differences {
				if slices.Contains(d.only, kind) && alone[d.row] == 0 {
					t.Errorf("no difference is explained by this row alone: %s (met %d times)", d.row, met[d.row])
				}
			}
			t.Logf("the same in %d scenes of %d where no row is about; explained by one row: %v", same, scenes, alone)
		})
	}
}

func explain(s scene) []string {
	var out []string
	for _, d := range differences {
		if slices.Contains(d.only, s.strategy.Type) && d.on(s) {
			out = append(out, d.row)
		}
	}
	return out
}

func bothAdmit(s scene) (ours, theirs string) {
	names := strings.Fields(admitted(Plan(fleetOf(s.strategy, s.rows()...), testNow)))
	slices.Sort(names)
	return strings.Join(names, " "), libraryOf(s.strategy, s.rows()...).admits()
}
