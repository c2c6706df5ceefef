package simulate

import (
	"slices"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// End is how a simulation ended.
type End string

// The ends.
const (
	// EndComplete: every selected cluster is done.
	EndComplete End = "complete"
	// EndPassed: every group passed and nothing changes any more, but clusters failed,
	// no more of them than the groups tolerate.
	EndPassed End = "passed"
	// EndBreached: more failures than a group tolerates, and nothing changes any more.
	EndBreached End = "breached"
	// EndHeld: not complete, and nothing changes any more by itself.
	EndHeld End = "held"
	// EndUnfinished: it was cut off while it was under way.
	EndUnfinished End = "unfinished"
)

// Report is what a simulation comes to.
type Report struct {
	Bundle   string `json:"bundle"`
	Revision string `json:"revision"`
	Source   string `json:"source"`
	Seed     int64  `json:"seed"`
	Clusters int    `json:"clusters"`
	// Step is what all times were rounded up to.
	Step Duration `json:"step"`
	// End is complete, passed, breached, held or unfinished.
	End End `json:"end"`
	// At is when it became complete, or else when the last thing happened or the
	// simulation was cut off.
	At Duration `json:"at"`
	// Reason and Sentence are the planner's last ones.
	Reason   rollout.Reason `json:"reason"`
	Sentence string         `json:"sentence"`
	Counts   rollout.Counts `json:"counts"`
	Down     Down           `json:"down"`
	Groups   []Group        `json:"groups"`
	// LeftOut are selected clusters in no lane, by reason.
	LeftOut []LeftOut `json:"leftOut,omitempty"`
	// Warnings are the planner's, Notes say what of the files has no effect here.
	Warnings []string `json:"warnings,omitempty"`
	Notes    []string `json:"notes,omitempty"`
	Timeline []Entry  `json:"timeline"`
	// Plans is how often the planner was asked.
	Plans int `json:"plans"`
}

// Group is one group with the last revision.
type Group struct {
	Lane     string         `json:"lane"`
	Name     string         `json:"name"`
	Counts   rollout.Counts `json:"counts"`
	OpenedAt *Duration      `json:"openedAt,omitempty"`
	PassedAt *Duration      `json:"passedAt,omitempty"`
	Passed   bool           `json:"passed"`
	Breached bool           `json:"breached,omitempty"`
	Sentence string         `json:"sentence"`
	// WorstUpdating is the most clusters of the group that were Updating at once.
	WorstUpdating int `json:"worstUpdating"`
}

// LeftOut are clusters that stay as they are.
type LeftOut struct {
	Reason   rollout.Reason `json:"reason"`
	Count    int            `json:"count"`
	Clusters []string       `json:"clusters"`
	Sentence string         `json:"sentence"`
}

// atRest is the end when nothing is left to happen.
func (s *sim) atRest() End {
	switch {
	case s.last.Complete:
		return EndComplete
	case s.last.Breached:
		return EndBreached
	case s.passed():
		return EndPassed
	}
	return EndHeld
}

// passed tells whether every group passed, in lanes that nothing holds.
func (s *sim) passed() bool {
	groups := 0
	for i := range s.last.Lanes {
		l := &s.last.Lanes[i]
		groups += len(l.Groups)
		if l.Hold != nil || slices.ContainsFunc(l.Groups, func(g rollout.GroupResult) bool { return !g.Passed }) {
			return false
		}
	}
	return groups > 0 && s.last.Hold == nil
}

// cutOff is the end at the last time that is simulated.
func (s *sim) cutOff() End {
	if s.last.Complete {
		return EndComplete
	}
	return EndUnfinished
}

// summary puts the report together.
func (s *sim) summary(end End) *Report {
	r := &s.last
	out := &Report{
		Bundle: s.object.Namespace + "/" + s.object.Name, Revision: s.revision, Source: s.source.Name, Seed: s.seed, Clusters: len(s.nodes), Step: Duration(s.step),
		End: end, Reason: r.Reason, Sentence: elapsed(r.Sentence), Counts: r.Counts, Down: s.down.Down,
		Notes: s.notes, Timeline: s.timeline.entries, Plans: s.plans,
	}
	out.At = s.endedAt(end)
	for _, w := range r.Warnings {
		out.Warnings = append(out.Warnings, string(w.Reason)+": "+elapsed(w.Sentence))
	}
	slices.Sort(out.Warnings)
	out.Warnings = slices.Compact(out.Warnings)
	for i := range r.Lanes {
		for j := range r.Lanes[i].Groups {
			out.Groups = append(out.Groups, s.groupReport(&r.Lanes[i], &r.Lanes[i].Groups[j]))
		}
	}
	out.LeftOut = leftOut(r.Clusters)
	return out
}

func (s *sim) endedAt(end End) Duration {
	if end == EndUnfinished {
		return Duration(s.now)
	}
	for _, e := range slices.Backward(s.timeline.entries) {
		if end != EndComplete || e.What == IsComplete {
			return e.At
		}
	}
	return 0
}

func (s *sim) groupReport(l *rollout.LaneResult, g *rollout.GroupResult) Group {
	place := rollout.Place{Lane: l.Name, GroupKey: g.GroupKey}
	out := Group{
		Lane: l.Name, Name: g.Label(), Counts: g.Counts, Passed: g.Passed, Breached: g.Breached,
		Sentence: elapsed(g.Sentence), WorstUpdating: s.down.groups[place],
	}
	if !g.OpenedAt.IsZero() {
		at := Duration(g.OpenedAt.Sub(epoch))
		out.OpenedAt = &at
	}
	for i := len(s.timeline.entries) - 1; i >= 0 && g.Passed; i-- {
		if e := &s.timeline.entries[i]; e.What == Passed && e.Lane == out.Lane && e.Group == out.Name {
			out.PassedAt = &e.At
			break
		}
	}
	return out
}

// leftOut collects the selected clusters in no lane.
func leftOut(clusters []rollout.ClusterResult) []LeftOut {
	var out []LeftOut
	for i := range clusters {
		c := &clusters[i]
		if c.InLane || !c.Selected {
			continue
		}
		at := slices.IndexFunc(out, func(l LeftOut) bool { return l.Reason == c.Reason })
		if at < 0 {
			at = len(out)
			out = append(out, LeftOut{Reason: c.Reason, Sentence: elapsed(c.Sentence)})
		}
		out[at].Count++
		if out[at].Count <= maxNames {
			out[at].Clusters = append(out[at].Clusters, c.Name)
		}
	}
	return out
}
