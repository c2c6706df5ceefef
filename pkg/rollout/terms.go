package rollout

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// settings are what holds for one group: the strategy's values, or what the policy
// says of this group.
type settings struct {
	minSuccess, deadline time.Duration
	// tolerates and concurrency are the group's own maxFailures and maxConcurrency; nil
	// for none.
	tolerates, concurrency *intstr.IntOrString
}

// settingsOf the groups of a name. Partitions have no use for a strategy.
func (l *lane) settingsOf(group string) settings {
	s := &l.Strategy
	if l.Partitions != nil {
		return settings{}
	}
	out := settings{minSuccess: s.MinSuccessTime, deadline: s.ProgressDeadline, concurrency: s.GroupConcurrency}
	if own, ok := s.Groups[group]; ok {
		if own.MinSuccessTime != nil {
			out.minSuccess = *own.MinSuccessTime
		}
		if own.ProgressDeadline != nil {
			out.deadline = *own.ProgressDeadline
		}
		if own.MaxConcurrency != nil {
			out.concurrency = own.MaxConcurrency
		}
		out.tolerates = own.MaxFailures
	}
	if s.Type == All {
		// It waits for nobody, so there is nothing to soak for.
		out.minSuccess = 0
	}
	return out
}

// queued tells whether the group is a part of its lane's one queue.
func (g *group) queued() bool { return g.lane.Strategy.Type == Progressive && !g.mandatory }

// maxFailures in clusters: a percentage is rounded up. The groups of a queue have
// none but their own; the lane's is judged in judgeQueue.
func (g *group) maxFailures() int {
	switch s := &g.lane.Strategy; {
	case s.Type == All:
		return len(g.members)
	case g.mandatory:
		return 0
	case g.tolerates != nil:
		return tolerated(*g.tolerates, g.size, len(g.members))
	case g.queued():
		return len(g.members)
	default:
		return tolerated(s.MaxFailures, g.size, len(g.members))
	}
}

// tolerated is a maxFailures of so many clusters that are no late joiners. A number
// above that tolerates all, late joiners included.
func tolerated(v intstr.IntOrString, size, all int) int {
	if n := scaleUp(v, size); n <= size {
		return n
	}
	return all
}

// atOnce is a maxConcurrency of so many clusters, at least 1; 0 for no limit.
func atOnce(v *intstr.IntOrString, size int) int {
	if v == nil {
		return 0
	}
	return max(1, scaleUp(*v, size))
}
