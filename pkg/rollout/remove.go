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

// guard carries out the removals that are due, and stamps what is left alone.
func (p *planner) guard() {
	for _, m := range p.due {
		if len(p.out.Remove) == chunk {
			break
		}
		m.acted = true
		p.out.Remove = append(p.out.Remove, Remove{Cluster: m.Name, Deleted: !m.Exists, Why: m.why.Sentence})
	}
	for i := range p.members {
		p.stamp(&p.members[i])
	}
}

// whyKept says why a work that nobody wants stays for now; empty if it does not.
func (p *planner) whyKept(m *member) Hold {
	own, known := p.laneOf[m.Work.Place.Lane]
	switch {
	case p.out.Hold != nil:
		return *p.out.Hold
	case known && p.lanes[own].held != nil:
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
