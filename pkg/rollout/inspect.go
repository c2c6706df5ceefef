package rollout

import (
	"strings"
	"time"
)

// Sight is what a person sees of one cluster: less than the planner, which knows the
// cluster's desired id and its lane.
type Sight struct {
	// Cluster with its Work; DesiredID does not matter.
	Cluster Cluster
	// Known is false when the ManagedCluster could not be read. It is then taken to be
	// as available as when the hub last saw success.
	Known bool
	// Revision that is rolled out.
	Revision string
	// Deadline is the progressDeadline of the cluster's group; 0 for none.
	Deadline time.Duration
	Paused   bool
	// ResumedAt is Record.ResumedAt.
	ResumedAt time.Time
}

// Inspect judges one cluster with the planner's own rules. A cluster without a work, or
// with one of another revision, is Pending; what it waits for is the planner's to say.
func Inspect(s Sight, now time.Time) ClusterResult {
	now = now.UTC().Truncate(time.Microsecond)
	c := s.Cluster
	if c.Work == nil {
		return ClusterResult{Name: c.Name, State: Pending, Shown: ShownPending, Reason: InProgress}
	}
	if !s.Known {
		c.Available, c.AvailableSince = true, sinceOf(c.Work.Stamps.ReadyFor)
	}
	m := &member{Cluster: &c}
	m.judged = judge(&c, terms{minSuccess: c.Work.MinSuccessTime, deadline: s.Deadline, paused: s.Paused, resumedAt: s.ResumedAt}, now)
	if c.Work.Revision != s.Revision || c.Work.Deleting {
		m.state, m.until = Pending, time.Time{}
	}
	return ClusterResult{
		Name: c.Name, Place: c.Work.Place, State: m.state, Shown: m.shown(),
		Reason: m.reason(), Sentence: m.sentence(), Until: m.until, Since: began(m.state, m.stamps),
	}
}

// sinceOf is the transition of Available in a triple; "" without one.
func sinceOf(readyFor string) string {
	at := strings.LastIndex(readyFor, tripleSeparator)
	return readyFor[at+1:]
}

// began is when a cluster came into its state, as far as its stamps tell.
func began(state State, s *Stamps) time.Time {
	switch state {
	case Progressing:
		return latest(s.AdmittedAt, s.LostSeenAt)
	case Soaking, Recovering:
		return s.ReadySeenAt
	case Done:
		return s.DoneAt
	case Failed, TimedOut:
		return s.FailedAt
	case Pending:
	}
	return time.Time{}
}
