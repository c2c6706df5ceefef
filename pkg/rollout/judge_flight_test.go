package rollout

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// tallyOfFailures counts failures among clusters, and those that were certainly there
// when their group was opened.
type tallyOfFailures struct{ all, there, failed int }

func (t *tallyOfFailures) add(s State, wasThere bool) {
	t.all++
	if wasThere {
		t.there++
	}
	if s.Failure() {
		t.failed++
	}
}

// above tells whether there are certainly more failures than tolerated.
func (t *tallyOfFailures) above(v intstr.IntOrString) bool {
	if v.Type == intstr.String {
		return t.failed > (t.all+1)/2 // 50%
	}
	return t.there >= v.IntValue() && t.failed > v.IntValue()
}

func mandatory(l LaneSpec, group string) bool {
	for _, m := range l.Strategy.Mandatory {
		if m.Name == group {
			return true
		}
	}
	return false
}

// before tells whether one group has to pass before another is open.
func (j *judgeOfPlans) before(l LaneSpec, first, second string) bool {
	switch a, b := mandatory(l, first), mandatory(l, second); {
	case a != b:
		return a
	case !a && l.Strategy.Type == Progressive:
		return false
	}
	return j.rank(l.Name, first) < j.rank(l.Name, second)
}

// soakOf is the minSuccessTime in a place.
func soakOf(in Input, place Place) time.Duration {
	for _, l := range in.Source.Lanes {
		if l.Name != place.Lane || l.Strategy.Type == All || l.Partitions != nil {
			continue
		}
		if own := l.Strategy.Groups[place.Name].MinSuccessTime; own != nil {
			return *own
		}
		return l.Strategy.MinSuccessTime
	}
	return 0
}

// wasThere tells whether the cluster certainly was in the lane before anything was
// opened for this revision.
func (j *judgeOfPlans) wasThere(name, lane string) bool {
	c, v := j.s.clusters[name], j.seen[name]
	if v == nil || v.inLane[lane].IsZero() {
		return false
	}
	return !c.Created.After(j.revisionSince) && !v.inLane[lane].After(j.revisionSince)
}

// newcomers: the last completed revision goes only to clusters without a work whose
// group is not open, and never while paused.
func (j *judgeOfPlans) newcomers(in Input, r Result) error {
	for _, a := range r.Admit {
		if a.ID == in.Revision {
			continue
		}
		if j.s.clusters[a.Cluster].Work != nil || len(in.Pauses) > 0 {
			return fmt.Errorf("%s admitted to the completed revision, paused %v", a.Cluster, in.Pauses)
		}
		for _, l := range r.Lanes {
			breached, open := false, false
			for _, g := range l.Groups {
				breached = breached || g.Breached
				open = open || (g.Open && g.GroupKey == a.Place.GroupKey)
			}
			if l.Name == a.Place.Lane && open && !breached {
				return fmt.Errorf("%s admitted to the completed revision in an open group", a.Cluster)
			}
		}
	}
	return nil
}

// flying tells whether the cluster certainly is in flight.
func (j *judgeOfPlans) flying(in Input, c ClusterResult) bool {
	v := j.seen[c.Name]
	w := j.s.clusters[c.Name].Work
	if v == nil || w == nil || w.Stamps.DoneAt.After(v.admitted) || !w.Stamps.FailedAt.IsZero() {
		return false
	}
	if !v.ended {
		return j.s.now.Sub(v.admitted) < 20*time.Second // the shortest deadline
	}
	return v.doneOn == "" && !v.well.IsZero() && j.s.now.Sub(v.admitted) < 20*time.Second && j.s.now.Sub(v.well) < soakOf(in, c.Place)
}

// free tells whether the cluster certainly is not in flight; a soak that was made
// longer since has to be proved anew.
func (j *judgeOfPlans) free(in Input, name string, place Place) bool {
	v, w := j.seen[name], j.s.clusters[name].Work
	if w == nil {
		return true
	}
	terminal := w.Verdict.Admission == w.Admission && w.Verdict.Terminal
	return terminal || (v.doneOn != "" && v.doneOn == v.token && soakOf(in, place) <= v.doneSoak)
}

// concurrency: who is not in flight is admitted only to a free slot.
func (j *judgeOfPlans) concurrency(in Input, r Result) error {
	for _, l := range in.Source.Lanes {
		queue := slots{limit: l.Strategy.QueueConcurrency}
		groups := map[GroupKey]*slots{}
		each := func(place Place, f func(*slots)) {
			if place.Lane != l.Name {
				return
			}
			s := groups[place.GroupKey]
			if s == nil {
				s = &slots{limit: l.Strategy.GroupConcurrency}
				if own := l.Strategy.Groups[place.Name].MaxConcurrency; own != nil {
					s.limit = own
				}
				groups[place.GroupKey] = s
			}
			f(s)
			if l.Strategy.Type == Progressive && !mandatory(l, place.Name) {
				f(&queue)
			}
		}
		admitted := map[string]bool{}
		for _, a := range r.Admit {
			if admitted[a.Cluster] = true; j.free(in, a.Cluster, a.Place) {
				each(a.Place, func(s *slots) { s.fresh++ })
			}
		}
		lane := 0
		for _, c := range r.Clusters {
			if !c.InLane || c.Place.Lane != l.Name {
				continue
			}
			lane++
			each(c.Place, func(s *slots) { s.size++ })
			if j.flying(in, c) && (!admitted[c.Name] || !j.free(in, c.Name, c.Place)) {
				each(c.Place, func(s *slots) { s.flying++ })
			}
		}
		queue.size = lane
		for key, s := range groups {
			if s.tooMany() {
				return fmt.Errorf("group %s of lane %s: %+v", key.Name, l.Name, *s)
			}
		}
		if queue.tooMany() {
			return fmt.Errorf("queue of lane %s: %+v", l.Name, queue)
		}
	}
	return nil
}

// slots of a group or queue.
type slots struct {
	limit               *intstr.IntOrString
	size, flying, fresh int
}

func (s *slots) tooMany() bool {
	if s.limit == nil || s.fresh == 0 {
		return false
	}
	most := s.limit.IntValue()
	if s.limit.Type == intstr.String {
		most = max(1, (s.size+1)/2) // 50%
	}
	return s.flying+s.fresh > most
}

// joins: nobody waits for a cluster that was created after its group was opened.
func (j *judgeOfPlans) joins(in Input, r Result) error {
	if in.Record.Revision != in.Revision {
		return nil
	}
	opened := map[Place]time.Time{}
	for _, g := range in.Record.Groups {
		opened[g.Place] = g.OpenedAt
	}
	for i, l := range r.Lanes {
		if in.Source.Lanes[i].Partitions != nil {
			continue // There every cluster counts.
		}
		for _, g := range l.Groups {
			at := opened[Place{l.Name, g.GroupKey}]
			for _, name := range g.Holding {
				c := j.s.clusters[name]
				here := c.Work == nil || c.Work.Place.Lane == l.Name
				if !g.Breached && !at.IsZero() && here && c.Created.After(at) {
					return fmt.Errorf("group %s of lane %s waits for %s, which came late: %s", g.Name, l.Name, name, g.Sentence)
				}
			}
		}
	}
	return nil
}
