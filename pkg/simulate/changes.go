package simulate

import (
	"regexp"
	"time"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// stateOrder is the order in which a moment's changes of state are told.
var stateOrder = []What{Lost, Ready, Recovers, Done, Failed, TimedOut}

// changes are the clusters whose state changed since the last moment, by place, and
// why clusters of an open group wait.
type changes struct {
	states map[rollout.Place]map[What]*change
	waits  map[rollout.Place]rollout.Hold
}

type change struct {
	count int
	names []string
	// why is what is said of the first one.
	why string
}

// newChanges compares the clusters with what was told of them.
func newChanges(s *sim) *changes {
	c := &changes{states: map[rollout.Place]map[What]*change{}, waits: map[rollout.Place]rollout.Hold{}}
	for i := range s.last.Clusters {
		r := &s.last.Clusters[i]
		n := s.byName[r.Name]
		if n == nil {
			continue
		}
		if r.State == rollout.Pending && r.InLane {
			c.wait(r)
		}
		if n.told == r.State {
			continue
		}
		what := changed(n.told, r.State)
		n.told = r.State
		if what != "" {
			c.add(what, r)
		}
	}
	return c
}

// changed is the word for a change of state; "" for one that is told otherwise.
func changed(from, to rollout.State) What {
	switch to {
	case rollout.Soaking:
		return Ready
	case rollout.Recovering:
		return Recovers
	case rollout.Done:
		return Done
	case rollout.Failed:
		return Failed
	case rollout.TimedOut:
		return TimedOut
	case rollout.Progressing:
		if from == rollout.Soaking || from == rollout.Done {
			return Lost
		}
	case rollout.Pending:
	}
	return ""
}

func (c *changes) add(what What, r *rollout.ClusterResult) {
	place := r.Place
	if !r.InLane {
		place = rollout.Place{}
	}
	if c.states[place] == nil {
		c.states[place] = map[What]*change{}
	}
	list := c.states[place][what]
	if list == nil {
		list = &change{}
		if what != Done && what != Ready {
			list.why = r.Sentence
		}
		c.states[place][what] = list
	}
	list.count++
	if list.count <= maxNames {
		list.names = append(list.names, r.Name)
	}
}

// wait keeps the first reason in a group that is worth a line: what is told of the
// group, the lane or the rollout as a whole is not.
func (c *changes) wait(r *rollout.ClusterResult) {
	switch r.Reason {
	case rollout.InProgress, rollout.WaitingForGroup, rollout.FailureBudgetExceeded, rollout.Paused:
		return
	default:
	}
	if _, ok := c.waits[r.Place]; !ok {
		c.waits[r.Place] = rollout.Hold{Reason: r.Reason, Sentence: r.Sentence}
	}
}

// tell writes the changes of one place down.
func (c *changes) tell(s *sim, place rollout.Place) {
	for _, what := range stateOrder {
		list := c.states[place][what]
		if list == nil {
			continue
		}
		e := Entry{Lane: place.Lane, What: what, Count: list.count, Clusters: list.names, Why: list.why}
		if place != (rollout.Place{}) {
			e.Group = place.Label()
		}
		s.timeline.tell(s, e)
	}
}

var stamp = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z`)

// elapsed replaces the planner's times in a sentence by the time since the start.
func elapsed(sentence string) string {
	return stamp.ReplaceAllStringFunc(sentence, func(text string) string {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return text
		}
		return at.Sub(epoch).String()
	})
}
