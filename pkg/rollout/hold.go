package rollout

import "fmt"

// rolloutGates hold the whole rollout: nothing is admitted, refreshed or removed in
// any lane. The first one that blocks is the one to tell.
var rolloutGates = []func(*planner) (Reason, string, bool){
	inputUnread,
	sourceUnusable,
	sourceChanged,
	placementMissing,
	placementInconsistent,
	placementUnsettled,
}

// laneGates hold one lane.
var laneGates = []func(*planner, *lane) (Reason, string, bool){
	mandatoryGroupMissing,
}

// hold asks the gates that need no cluster.
func (p *planner) hold() {
	for _, gate := range rolloutGates {
		if reason, sentence, blocked := gate(p); blocked {
			p.held = &Hold{reason, sentence}
			break
		}
	}
	for _, l := range p.lanes {
		if p.held != nil {
			break
		}
		for _, gate := range laneGates {
			if reason, sentence, blocked := gate(p, l); blocked {
				l.held = &Hold{reason, sentence}
				break
			}
		}
	}
	p.out.Warnings = append(p.out.Warnings, p.in.Source.Warnings...)
	p.out.Hold = p.held
	if p.held == nil {
		p.out.Hold = p.paused
	}
	for _, l := range p.lanes {
		if l.view == nil {
			continue
		}
		if since := l.view.brokenSince; !since.IsZero() {
			p.at(p.now.Add(inconsistentRetry))
			p.at(since.Add(inconsistentNotice))
		}
		for _, name := range l.view.believed.Empty {
			p.out.Warnings = append(p.out.Warnings, Hold{EmptyDecisionGroup,
				fmt.Sprintf("decision group %s of Placement %s has no clusters: it does not exist for OCM, and the index of every later group is one less", name, l.Placement)})
		}
	}
}

func inputUnread(p *planner) (Reason, string, bool) {
	if len(p.in.Blocks) == 0 {
		return "", "", false
	}
	return p.in.Blocks[0].Reason, p.in.Blocks[0].Sentence, true
}

func sourceUnusable(p *planner) (Reason, string, bool) {
	if p.in.Source.Hold == nil {
		return "", "", false
	}
	return p.in.Source.Hold.Reason, p.in.Source.Hold.Sentence, true
}

func placementMissing(p *planner) (Reason, string, bool) {
	for _, l := range p.lanes {
		if l.Placement == "" {
			continue
		}
		if v := p.in.Views[l.Placement]; v != nil && !v.Snapshot.Found {
			return PlacementNotFound, fmt.Sprintf("Placement %s does not exist", l.Placement), true
		}
	}
	return "", "", false
}

func placementInconsistent(p *planner) (Reason, string, bool) {
	for _, l := range p.lanes {
		if l.view != nil && l.view.Snapshot.Inconsistent != "" {
			return PlacementInconsistent, fmt.Sprintf("the decisions of Placement %s do not fit its status: %s", l.Placement, l.view.Snapshot.Inconsistent), true
		}
	}
	return "", "", false
}

// placementUnsettled holds after a start until the decisions were the same for the
// settle time: before that nobody knows what has just changed.
func placementUnsettled(p *planner) (Reason, string, bool) {
	for _, l := range p.lanes {
		if l.view == nil {
			continue
		}
		if l.view.start.IsZero() {
			return PlacementSettling, fmt.Sprintf("Placement %s was not read yet", l.Placement), true
		}
		if at := l.view.settlesAt(); p.now.Before(at) {
			p.at(at)
			return PlacementSettling, fmt.Sprintf("the decisions of Placement %s count from %s", l.Placement, clock(at)), true
		}
	}
	return "", "", false
}

// mandatoryGroupMissing holds a lane whose decisions lack a mandatory group; without
// it the others would start first.
func mandatoryGroupMissing(p *planner, l *lane) (Reason, string, bool) {
	if l.view == nil || len(l.Strategy.Mandatory) == 0 {
		return "", "", false
	}
	settled := map[GroupKey]bool{}
	for _, pl := range l.view.places {
		if key, in := pl.at(l.view, l.view.asOf(p.now)); in && pl.in {
			settled[key] = true
		}
	}
	for _, m := range l.Strategy.Mandatory {
		found := false
		for key := range settled {
			found = found || m.matches(l, key)
		}
		if !found {
			return MandatoryGroupMissing, fmt.Sprintf("Placement %s decides no clusters for mandatory group %s", l.Placement, m.label()), true
		}
	}
	return "", "", false
}

// matches tells whether a group is this mandatory one; a name wins over an index.
func (m MandatoryGroup) matches(l *lane, key GroupKey) bool {
	if m.Name != "" {
		return key.Name == m.Name
	}
	index, ok := l.view.believed.Indexes[key]
	return ok && index == m.Index
}

func (m MandatoryGroup) label() string {
	if m.Name != "" {
		return m.Name
	}
	return fmt.Sprintf("with index %d", m.Index)
}
