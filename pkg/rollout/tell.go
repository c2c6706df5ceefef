package rollout

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// tell fills in everything that is for people.
func (p *planner) tell() {
	var failed, left crowd
	p.out.Clusters = make([]ClusterResult, 0, len(p.members))
	for i := range p.members {
		m := &p.members[i]
		if !m.selected && m.Work == nil {
			continue
		}
		p.out.Clusters = append(p.out.Clusters, p.clusterResult(m))
		if !p.tells(m) {
			continue
		}
		p.out.Counts.add(m.state)
		switch {
		case m.state.Failure():
			failed.add(m)
		case m.state != Done:
			left.add(m)
		}
	}
	for _, l := range p.lanes {
		p.out.Lanes = append(p.out.Lanes, p.laneResult(l))
		p.out.Breached = p.out.Breached || l.breached != nil
		if p.out.Current == nil && l.current != nil {
			place := l.current.place()
			p.out.Current = &place
		}
	}
	p.warnOfGroups()
	p.out.Complete = p.out.Counts.Total > 0 && p.out.Counts.Done == p.out.Counts.Total
	p.summarize(failed, left)
	if !p.next.IsZero() {
		p.out.RecheckAfter = p.next.Sub(p.now)
	}
}

// tells whether a cluster is counted: selected, a member, or, while nobody can say
// what is selected, one that has the bundle.
func (p *planner) tells(m *member) bool {
	unknown := len(p.in.Blocks) > 0 || p.in.Source.Hold != nil || p.foreign
	return m.selected || m.group != nil || (unknown && m.Exists && m.Work != nil)
}

// summarize picks the one thing to tell about the rollout.
func (p *planner) summarize(failed, left crowd) {
	h := Hold{Complete, fmt.Sprintf("%s done", manyAre(p.out.Counts.Done))}
	switch stop := p.firstStop(); {
	case p.out.Hold != nil:
		h = *p.out.Hold
	case p.heldBack != nil && (stop == nil || stop.Reason == GroupVanished):
		// Those that leave may be all of a group.
		h = *p.heldBack
	case stop != nil:
		h = *stop
	case p.out.Counts.Total == 0 && p.in.Source.NoTargets:
		h = Hold{NoClusters, "the bundle has no targets and no RolloutPolicy governs it"}
	case p.out.Counts.Total == 0 && p.in.Source.ImplicitTargets:
		h = Hold{NoClusters, "no Placement of " + p.in.Source.Name + " decides a cluster that the namespace may use"}
	case p.out.Counts.Total == 0:
		h = Hold{NoClusters, "no target of the bundle matches a cluster that the namespace may use: compare spec.targets with the labels of the clusters in the bound ManagedClusterSets"}
	case left.count > 0:
		h = Hold{left.first[0].reason(), fmt.Sprintf("%s: %s", left.notDone(), left.first[0].sentence())}
	case failed.count > 0:
		h = Hold{failed.first[0].reason(), fmt.Sprintf("every group passed; %s: %s", failed.notDone(), failed.first[0].sentence())}
	}
	p.out.Reason, p.out.Sentence = h.Reason, h.Sentence
	if h.Reason == Complete {
		p.out.Sentence += p.going()
	}
}

// crowd counts clusters and keeps the first five to name them.
type crowd struct {
	count int
	first []*member
}

func (c *crowd) add(m *member) {
	c.count++
	if len(c.first) < 5 {
		c.first = append(c.first, m)
	}
}

func (c *crowd) notDone() string {
	return manyAre(c.count) + " not done " + namesOf(c.first, 5, c.count)
}

// going is what is about to be removed from clusters that nobody selects any more:
// without it a rollout would look at rest until its releases are gone.
func (p *planner) going() string {
	var going []*member
	for i := range p.members {
		if m := &p.members[i]; m.unwanted && !m.acted && m.why.Reason == NoLongerSelected {
			going = append(going, m)
		}
	}
	if len(going) == 0 {
		return ""
	}
	return fmt.Sprintf("; %s leaving %s: %s", manyAre(len(going)), names(going, 5), going[0].why.Sentence)
}

// firstStop is what holds the first lane that is not through.
func (p *planner) firstStop() *Hold {
	for _, l := range p.lanes {
		switch {
		case l.held != nil:
			return l.held
		case l.breached != nil:
			return &Hold{l.breached.breach.Reason, l.breached.breach.Sentence + l.breached.because()}
		case l.current != nil:
			return l.current.wait()
		}
	}
	return nil
}

// wait is what a lane's first group that has not passed waits for.
func (g *group) wait() *Hold {
	if g.lane.Partitions != nil {
		sentence := g.partitionSentence()
		if g.budget.stop() == (Hold{}) {
			sentence = "waiting for " + g.called() + ": " + sentence
		}
		return &Hold{g.partitionReason(), sentence}
	}
	return &Hold{g.reason(), fmt.Sprintf("waiting for group %s: %s%s", g.label, g.progressSentence(), g.because())}
}

func (p *planner) laneResult(l *lane) LaneResult {
	r := LaneResult{Name: l.Name, Type: string(l.Strategy.Type), Hold: l.held}
	r.Groups = slices.Grow(r.Groups, len(l.groups))
	for _, g := range l.groups {
		gr := GroupResult{
			GroupKey: g.GroupKey, Open: g.open && p.held == nil && l.held == nil, Passed: g.passed, Breached: g.over,
			MaxFailures: g.max, Counts: g.counts, OpenedAt: g.openedAt, NextAt: g.nextAt, LateJoiners: g.late,
			MinSuccessTime: g.minSuccess, ProgressDeadline: g.deadline,
		}
		gr.MaxConcurrency, gr.InFlight = p.shownFlight(g)
		gr.Reason, gr.Sentence = p.groupStop(g)
		g.tellBudget(&gr)
		blamed := g.holding
		if gr.Breached {
			blamed = g.failing
		}
		gr.Holding, gr.Next = namesIn(blamed), namesIn(g.next)
		r.Groups = append(r.Groups, gr)
	}
	return r
}

// namesIn are the names of some members; nil of none.
func namesIn(members []*member) []string {
	if len(members) == 0 {
		return nil
	}
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.Name
	}
	return names
}

// groupStop is why a group has not passed.
func (p *planner) groupStop(g *group) (Reason, string) {
	l := g.lane
	if l.Partitions != nil {
		return p.partitionStop(g)
	}
	switch {
	case g.passed && g.failures == 0:
		return Complete, fmt.Sprintf("%s done", manyAre(g.counts.Done)) + g.unwaited()
	case g.passed:
		return Complete, "passed: " + g.failureSentence() + g.unwaited()
	case p.out.Hold != nil:
		return p.out.Hold.Reason, p.out.Hold.Sentence
	case l.held != nil:
		return l.held.Reason, l.held.Sentence
	case g.over:
		return FailureBudgetExceeded, g.failureSentence() + g.because()
	case !g.open:
		return g.closed.Reason, g.closed.Sentence
	case l.breached != nil && g.counts.Pending > 0:
		return l.breached.breach.Reason, l.breached.breach.Sentence
	}
	return g.reason(), g.progressSentence() + g.because() + g.unwaited()
}

func (p *planner) clusterResult(m *member) ClusterResult {
	r := ClusterResult{
		Name: m.Name, InLane: m.group != nil, Selected: m.selected, State: m.state, Shown: m.shownAs,
		Reason: m.reason(), Sentence: p.sentenceOf(m), Until: m.until,
		Late: m.late, Since: m.began,
	}
	if m.late && m.state != Done {
		r.Sentence += "; nobody waits for it, as it came after its group was opened"
	}
	if m.group != nil {
		r.Place = m.group.place()
	} else if m.Work != nil {
		r.Place = m.Work.Place
	}
	return r
}

// since is when a cluster's state began, as far as its stamps tell.
func (p *planner) since(m *member) time.Time {
	switch m.state {
	case Pending:
		if m.group == nil || (m.Work != nil && m.Work.Revision == p.in.Revision) {
			return time.Time{}
		}
		return latest(p.out.Record.RevisionSince, p.came(m))
	case Progressing:
		if !m.stamps.DoneAt.IsZero() {
			return m.stamps.LostSeenAt
		}
		return m.stamps.AdmittedAt
	case Soaking, Recovering:
		return m.stamps.ReadySeenAt
	case Done:
		return m.stamps.DoneAt
	case Failed, TimedOut:
		if m.RenderError == "" {
			return m.stamps.FailedAt
		}
	}
	return time.Time{}
}

// warnOfGroups names settings of groups that do not exist: people mistype names.
func (p *planner) warnOfGroups() {
	for _, l := range p.lanes {
		if l.view == nil || l.view.start.IsZero() || len(l.Strategy.Groups) == 0 {
			continue
		}
		known := map[string]bool{}
		for _, name := range l.view.believed.Declared {
			known[name] = true
		}
		for _, g := range l.groups {
			known[g.Name] = true
		}
		for _, name := range slices.Sorted(maps.Keys(l.Strategy.Groups)) {
			if !known[name] {
				p.out.Warnings = append(p.out.Warnings, Hold{GroupNotFound,
					fmt.Sprintf("groups[] of lane %s has settings for %s, which is no decision group of Placement %s: compare the names", l.Name, name, l.Placement)})
			}
		}
	}
}
