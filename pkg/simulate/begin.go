package simulate

import (
	"fmt"
	"time"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// slack is what is added to the longest soak, so that it is surely over at the start.
const slack = 5 * time.Second

// lifetime is how old the clusters are that are there at the start.
const lifetime = 24 * time.Hour

// begin builds the hub and the fleet as they are some time before the start, so that
// at the start the decisions have settled and what is installed has soaked.
func begin(sc *Scenario, o Options) *sim {
	s := &sim{
		Scenario: sc, seed: 1, step: o.Step, byName: map[string]*node{}, views: map[string]*rollout.View{},
		timeline: newTimeline(), down: newDownCount(),
	}
	switch {
	case o.Seed != nil:
		s.seed = *o.Seed
	case sc.seed != nil:
		s.seed = *sc.seed
	}
	lead := settleTime
	if s.installed != "" {
		lead += s.soakTime() + slack
	}
	s.now = -s.stepUp(lead)
	for _, p := range s.placements {
		clear(p.decided)
	}
	for _, c := range s.clusters {
		s.add(c, -lifetime)
	}
	if s.installed != "" {
		s.install()
	}
	s.queue.schedule(s.now, func() {})
	s.schedule()
	return s
}

// soakTime is the longest minSuccessTime of the lanes.
func (s *sim) soakTime() time.Duration {
	longest := time.Duration(0)
	for _, l := range s.source.Lanes {
		longest = max(longest, l.Strategy.MinSuccessTime)
		for _, g := range l.Strategy.Groups {
			if g.MinSuccessTime != nil {
				longest = max(longest, *g.MinSuccessTime)
			}
		}
	}
	return longest
}

// install gives every selected cluster that a lane decides the installed revision,
// ready since this moment.
func (s *sim) install() {
	s.revision = s.installed
	s.match()
	s.observe()
	for _, n := range s.nodes {
		place, soak, ok := s.placeOf(n)
		if !ok || !n.row.Selected || n.row.RenderError != "" {
			continue
		}
		s.tokens++
		n.row.Work = &rollout.Work{
			ID: n.row.DesiredID, Revision: s.installed, Admission: fmt.Sprint("admission ", s.tokens), Place: place,
			MinSuccessTime: soak, Shape: shape0,
			Stamps: rollout.Stamps{AdmittedAt: s.clock(), MemberSince: n.row.Created},
		}
		n.agent = agent{admission: n.row.Work.Admission}
		s.becomeReady(n)
		s.report(n)
	}
}

// placeOf is where a cluster stands in the last lane that decides it, and the lane's
// soak there.
func (s *sim) placeOf(n *node) (rollout.Place, time.Duration, bool) {
	for i := len(s.source.Lanes) - 1; i >= 0; i-- {
		l := &s.source.Lanes[i]
		key := rollout.GroupKey{Name: rollout.DefaultGroup}
		switch manual := l.Partitions != nil && len(l.Partitions.Manual) > 0; {
		case l.Placement != "":
			var in bool
			if key, in = s.views[l.Placement].Snapshot.Where[n.name]; !in {
				continue
			}
		case manual && n.row.Partition == 0:
			continue
		case manual:
			key.Name = l.Partitions.Manual[n.row.Partition-1].Name
		}
		soak := l.Strategy.MinSuccessTime
		if g := l.Strategy.Groups[key.Name]; g.MinSuccessTime != nil {
			soak = *g.MinSuccessTime
		}
		if l.Strategy.Type == rollout.All {
			soak = 0
		}
		return rollout.Place{Lane: l.Name, GroupKey: key}, soak, true
	}
	return rollout.Place{}, 0, false
}
