package simulate

import (
	"fmt"
	"time"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// node is one cluster: what the hub knows of it, and its agent.
type node struct {
	name           string
	labels, claims map[string]string
	// row is what the planner gets.
	row rollout.Cluster
	// away counts the windows in which the cluster is offline now.
	away, flips int
	agent       agent
	// ran is true once the bundle was ever ready here.
	ran bool
	// told is the state that the timeline knows.
	told rollout.State
}

// agent is what the cluster itself knows, with or without network.
type agent struct {
	admission string
	// said is its latest word, whether it got through or not.
	said    rollout.Verdict
	readyAt time.Duration
	ready   bool
}

// start lets the agent take over the admission of its work, if it can see it.
func (s *sim) start(n *node) {
	w := n.row.Work
	if w == nil || n.away > 0 || n.agent.admission == w.Admission {
		return
	}
	fate := s.fate(n, w.Revision)
	n.agent = agent{admission: w.Admission, said: rollout.Verdict{Admission: w.Admission, Applied: true}}
	a := &n.agent
	switch {
	case fate.result == ResultNever:
		a.said.Message = fate.text("is never ready, says the script")
	case fate.retryFor > 0:
		a.said.Applied, a.said.State, a.said.Message = false, string(rollout.ShownErrApplied), fate.text("an error that passes, says the script")
	}
	s.report(n)
	if fate.result == ResultNever {
		return
	}
	s.later(n, max(s.stepUp(s.now+fate.retryFor+fate.after), s.now+s.step), func() {
		if fate.result == ResultFails {
			a.said = rollout.Verdict{Admission: a.admission, Terminal: true, State: string(rollout.ShownErrApplied), Message: fate.text("fails, says the script")}
			return
		}
		s.becomeReady(n)
	})
}

func (o *outcome) text(otherwise string) string {
	if o.message != "" {
		return o.message
	}
	return otherwise
}

// becomeReady is the agent that sees its release ready.
func (s *sim) becomeReady(n *node) {
	a := &n.agent
	a.ready, a.readyAt = true, s.now
	a.said = rollout.Verdict{Admission: a.admission, Applied: true, Ready: true, ReadySince: s.now.String()}
	s.soak(n)
}

// soak lets the agent say that minSuccessTime is over: a second late, as the real one
// does. Where steps are longer than that it comes with the step in which the soak ends.
func (s *sim) soak(n *node) {
	soak := n.row.Work.MinSuccessTime
	said := n.agent.readyAt + soak
	if s.step <= fineStep {
		said += time.Second
	}
	s.later(n, max(s.stepUp(said), s.now), func() {
		n.agent.said.Soaked, n.agent.said.SoakedKnown = soak, true
	})
}

// later does something on the cluster, unless another admission has come meanwhile.
func (s *sim) later(n *node, at time.Duration, do func()) {
	admission := n.agent.admission
	s.queue.schedule(at, func() {
		if n.agent.admission == admission && n.row.Work != nil {
			do()
			s.report(n)
		}
	})
}

// report carries the agent's word to the hub, if the network lets it.
func (s *sim) report(n *node) {
	if n.away == 0 && n.row.Work != nil {
		n.row.Work.Verdict = n.agent.said
	}
}

// leaveNet and rejoin are the two ends of a window offline.
func (s *sim) leaveNet(n *node) {
	n.away++
	s.reachable(n)
}

func (s *sim) rejoin(n *node) {
	n.away--
	s.reachable(n)
	s.start(n)
	if n.row.Work != nil && n.agent.admission == n.row.Work.Admission {
		s.report(n)
	}
}

func (s *sim) reachable(n *node) {
	if up := n.away == 0; up != n.row.Available {
		n.flips++
		n.row.Available, n.row.Unreachable, n.row.AvailableSince = up, !up, fmt.Sprintf("flip %d", n.flips)
		s.moved = true
	}
}

// success is what the planner calls so.
func (n *node) success() bool {
	w := n.row.Work
	return w != nil && w.Verdict.Admission == w.Admission && w.Verdict.Ready && !w.Verdict.Terminal && n.row.Available
}
