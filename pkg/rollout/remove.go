package rollout

// remove deletes the work of a cluster that is gone, or that nobody selected for
// the whole grace. Holds and pauses hold removals too.
func (p *planner) remove(m *member) {
	if !m.unwanted || m.acted {
		return
	}
	m.why = p.whyKept(m)
	if m.why != (Hold{}) {
		return
	}
	m.why = Hold{NoLongerSelected, "no target of the bundle selects the cluster: its release is removed"}
	if p.in.Source.ImplicitTargets && m.Selected {
		m.why.Sentence = "no Placement decides the cluster any more: its release is removed"
	}
	if !m.Exists {
		m.why.Sentence = "the ManagedCluster is deleted"
	}
	p.due = append(p.due, m)
}

// whyKept says why a work that nobody wants stays for now; empty if it does not. A
// group that has vanished keeps nothing: its last clusters may be those that leave.
func (p *planner) whyKept(m *member) Hold {
	own, known := p.laneOf[m.Work.Place.Lane]
	switch {
	case p.out.Hold != nil:
		return *p.out.Hold
	case known && p.lanes[own].held != nil && p.lanes[own].held.Reason != GroupVanished:
		return *p.lanes[own].held
	case !m.Exists:
		return Hold{}
	case m.Unreachable:
		return Hold{Unreachable, "the cluster is unreachable: it is kept as it is"}
	case !m.removable:
		return Hold{NoLongerSelected, "no longer selected: removed at " + clock(p.out.Absent[m.Name].Add(p.in.RemovalGrace)) + " if it stays so"}
	}
	return Hold{}
}
