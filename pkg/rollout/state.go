package rollout

import "time"

// terms are what a lane's strategy and the pause mean for one cluster's states.
type terms struct {
	minSuccess, deadline time.Duration
	paused               bool
	resumedAt            time.Time
}

// judged is what the hub thinks of a work's own admission, whatever id is desired.
type judged struct {
	state State
	// stamps are the work's own while nothing changed in them.
	stamps *Stamps
	// until is when a soak or a deadline ends; zero if none runs.
	until time.Time
	// changed is true when the stamps are new ones.
	changed, success bool
	// wantsLease is true when only a change of the cluster's lease is missing.
	wantsLease bool
	// overdue is true when the soak is long over and no sign of life came since.
	overdue bool
}

// verdict is the agent's word on the current admission, or nothing: one left over
// from the previous admission says nothing about this one.
func (w *Work) verdict() *Verdict {
	if w == nil || w.Admission == "" || w.Verdict.Admission != w.Admission {
		return &noVerdict
	}
	return &w.Verdict
}

// noVerdict is never written.
var noVerdict Verdict

// judge gives a work its state and its new stamps.
func judge(c *Cluster, t terms, now time.Time) judged {
	s := c.Work.Stamps
	j := assess(c, &s, t, now)
	j.stamps = &c.Work.Stamps
	if s != c.Work.Stamps {
		changed := s
		j.stamps, j.changed = &changed, true
	}
	return j
}

// assess judges a work and changes its stamps to what was seen now.
func assess(c *Cluster, s *Stamps, t terms, now time.Time) judged {
	v := c.Work.verdict()
	if s.AdmittedAt.IsZero() {
		// A lost annotation must not make the deadline look long over.
		s.AdmittedAt = now
	}
	if v.Waiting != s.Waiting {
		s.Waiting, s.WaitSeenAt = v.Waiting, now
	}
	j := judged{success: v.Applied && v.Ready && !v.Terminal && c.Available}
	if !j.success {
		j.lost(s, v, t, now)
		return j
	}
	if s.ReadySeenAt.IsZero() || !isTriple(s.ReadyFor, v, c) {
		s.ReadySeenAt, s.ReadyFor = now, triple(v, c)
		s.SoakedSeenAt, s.Lease = time.Time{}, ""
	}
	switch {
	case j.soaked(s, c, v, t.minSuccess, now):
		j.done(s, t.minSuccess, now)
	case !s.FailedAt.IsZero():
		j.state = Recovering
	default:
		j.state = Soaking
	}
	return j
}

// done stamps a cluster that is Done. A stamp that proves it already is kept.
func (j *judged) done(s *Stamps, minSuccess time.Duration, now time.Time) {
	j.state, j.until = Done, time.Time{}
	if !s.provesDone(minSuccess) {
		// Not before ReadySeenAt, which another manager's faster clock may have written:
		// the stamp would prove nothing and be written again and again.
		s.DoneAt = latest(now, s.ReadySeenAt)
	}
	s.FailedAt, s.LostSeenAt = time.Time{}, time.Time{}
}

// provesDone tells whether Done was seen for the present triple and with at least
// this soak. A longer soak than the one judged then has to be proved anew.
func (s *Stamps) provesDone(minSuccess time.Duration) bool {
	return !s.DoneAt.IsZero() && !s.ReadySeenAt.IsZero() && !s.DoneAt.Before(s.ReadySeenAt.Add(minSuccess))
}

// lost judges a work without success.
func (j *judged) lost(s *Stamps, v *Verdict, t terms, now time.Time) {
	s.ReadySeenAt, s.ReadyFor, s.SoakedSeenAt, s.Lease = time.Time{}, "", time.Time{}, ""
	if !s.DoneAt.IsZero() && s.LostSeenAt.IsZero() {
		s.LostSeenAt = now
	}
	switch deadline := t.deadlineOf(s); {
	case v.Terminal:
		j.state = Failed
	case !s.FailedAt.IsZero():
		// It failed once for this admission and is not Done since.
		j.state = TimedOut
	case !deadline.IsZero() && !now.Before(deadline):
		j.state = TimedOut
	default:
		j.state, j.until = Progressing, deadline
		return
	}
	if s.FailedAt.IsZero() {
		s.FailedAt = now
	}
}

// deadlineOf is when a work without success times out; zero if no deadline runs.
func (t terms) deadlineOf(s *Stamps) time.Time {
	if t.deadline <= 0 || t.paused || s.Waiting {
		return time.Time{}
	}
	from := s.AdmittedAt
	if !s.DoneAt.IsZero() {
		from = s.LostSeenAt
	}
	return latest(from, s.WaitSeenAt, t.resumedAt).Add(t.deadline)
}

func latest(first time.Time, more ...time.Time) time.Time {
	for _, t := range more {
		if t.After(first) {
			first = t
		}
	}
	return first
}
