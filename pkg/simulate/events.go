package simulate

import (
	"slices"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// schedule puts what the script says into the queue.
func (s *sim) schedule() {
	for _, c := range s.revisions {
		s.queue.schedule(s.stepUp(c.at), func() { s.commit(c.name) })
	}
	for _, p := range s.pauses {
		s.queue.schedule(s.stepUp(p.from), func() {
			s.paused++
			s.timeline.tell(s, Entry{What: Pauses})
		})
		if p.to > 0 {
			s.queue.schedule(s.stepUp(p.to), func() {
				s.paused--
				s.timeline.tell(s, Entry{What: Resumes})
			})
		}
	}
	for _, w := range s.offline {
		s.window(w)
	}
	for _, j := range s.joins {
		s.queue.schedule(s.stepUp(j.at), func() { s.join(j) })
	}
	for _, l := range s.leaves {
		s.queue.schedule(s.stepUp(l.at), func() { s.leave(l) })
	}
	for _, r := range s.relabels {
		s.queue.schedule(s.stepUp(r.at), func() { s.relabel(r) })
	}
	for _, at := range s.confirms {
		s.queue.schedule(s.stepUp(at), s.confirm)
	}
}

func (s *sim) commit(name string) {
	s.revision, s.changed = name, true
	s.timeline.tell(s, Entry{What: Commit, Why: name})
}

// window takes clusters off the net, and brings the same ones back.
func (s *sim) window(w window) {
	var gone []*node
	s.queue.schedule(s.stepUp(w.from), func() {
		gone = s.pick(&w.picker)
		for _, n := range gone {
			s.leaveNet(n)
		}
		s.timeline.names(s, GoesOffline, gone)
	})
	if w.to == 0 {
		return
	}
	s.queue.schedule(s.stepUp(w.to), func() {
		for _, n := range gone {
			s.rejoin(n)
		}
		s.timeline.names(s, ComesBack, gone)
	})
}

func (s *sim) join(j join) {
	var came []*node
	for _, c := range j.clusters {
		came = append(came, s.add(c, s.now))
	}
	s.timeline.names(s, Joins, came)
}

func (s *sim) leave(l leave) {
	left := s.pick(&l.picker)
	for _, n := range left {
		n.row.Exists = false
	}
	s.moved, s.changed = true, true
	s.forget()
	s.timeline.names(s, Leaves, left)
}

func (s *sim) relabel(r relabel) {
	picked := s.pick(&r.picker)
	for _, n := range picked {
		for k, v := range r.labels {
			n.labels[k] = v
		}
		for _, k := range r.remove {
			delete(n.labels, k)
		}
	}
	s.moved, s.changed = true, true
	s.timeline.names(s, Relabelled, picked)
}

// confirm confirms everything that the last plan asked a person for.
func (s *sim) confirm() {
	for _, c := range s.last.Confirm {
		s.confirmed = append(s.confirmed, rollout.Confirmation{
			Reason: c.Reason, Subject: c.Subject, Revision: s.revision, Clusters: slices.Clone(c.Clusters),
		})
		s.timeline.tell(s, Entry{What: Confirmed, Why: string(c.Reason) + " " + c.Subject})
	}
}

// pick returns the clusters that exist and are meant, in name order.
func (s *sim) pick(p *picker) []*node {
	var out []*node
	for _, n := range s.nodes {
		if n.row.Exists && p.picks(s.seed, n) {
			out = append(out, n)
		}
	}
	return out
}
