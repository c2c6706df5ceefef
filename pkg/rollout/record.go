package rollout

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// remember carries the record over: a new revision closes the groups, a pause that
// ended restarts the deadlines.
func (p *planner) remember() {
	r := &p.out.Record
	*r = p.in.Record
	r.Groups = slices.Clone(p.in.Record.Groups)
	p.takeSource()
	slices.SortFunc(r.Groups, func(a, b RecordedGroup) int { return comparePlaces(a.Place, b.Place) })
	if r.Revision != p.in.Revision {
		r.Revision, r.RevisionSince, r.Cuts = p.in.Revision, p.now, nil
		for i := range r.Groups {
			r.Groups[i].OpenedAt = time.Time{}
		}
	}
	pauses := slices.Clone(p.in.Pauses)
	if p.in.Source.Paused != "" {
		pauses = append(pauses, p.in.Source.Paused)
	}
	slices.Sort(pauses)
	pauses = slices.Compact(pauses)
	switch {
	case len(pauses) > 0:
		if r.PauseSeenAt.IsZero() {
			r.PauseSeenAt = p.now
		}
		p.paused = &Hold{Paused, "paused by " + strings.Join(pauses, " and ")}
	case !r.PauseSeenAt.IsZero():
		r.ResumedAt, r.PauseSeenAt = p.now, time.Time{}
	}
}

// open records the groups that have members, and when they were opened: before the
// first admission that this allows.
func (p *planner) open() {
	if p.held != nil {
		return
	}
	r := &p.out.Record
	known := make(map[Place]int, len(r.Groups))
	for i, g := range r.Groups {
		known[g.Place] = i
	}
	for _, l := range p.lanes {
		for _, g := range l.groups {
			i, ok := known[g.place()]
			if !ok {
				i = len(r.Groups)
				r.Groups = append(r.Groups, RecordedGroup{Place: g.place()})
			}
			if g.open && p.paused == nil && l.held == nil && l.breached == nil && r.Groups[i].OpenedAt.IsZero() {
				r.Groups[i].OpenedAt = p.now
			}
			g.openedAt = r.Groups[i].OpenedAt
		}
	}
	slices.SortFunc(r.Groups, func(a, b RecordedGroup) int { return comparePlaces(a.Place, b.Place) })
	if p.completed() {
		r.CompletedRevision = p.in.Revision
	}
}

// completed tells whether every group of every lane passes with at least one
// cluster Done.
func (p *planner) completed() bool {
	done := 0
	for _, l := range p.lanes {
		if l.held != nil || l.current != nil {
			return false
		}
		for _, g := range l.groups {
			done += g.counts.Done
		}
	}
	return done > 0
}

func (g *group) place() Place { return Place{Lane: g.lane.Name, GroupKey: g.GroupKey} }

func comparePlaces(a, b Place) int {
	return cmp.Or(cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Index, b.Index))
}
