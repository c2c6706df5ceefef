package rollout

import (
	"strings"
	"time"
)

// How soon a lease is read again: the first reading is only the baseline.
const (
	leaseFirst = time.Second
	leasePoll  = 5 * time.Second
)

// confirmDelay is how long after a soak the word of an agent comes at the latest if
// nothing is wrong: before that a missing one is not worth a sentence, and after that
// a new one may be old.
const confirmDelay = 10 * time.Second

// soaked tells whether a cluster with success is Done: the hub's clock says that
// the soak is over, and after that the hub had a sign of life. Without the second
// a cluster that lost its network a second after it became ready would count, as
// OCM notices that only minutes later.
func (j *judged) soaked(s *Stamps, c *Cluster, v *Verdict, minSuccess time.Duration, now time.Time) bool {
	if minSuccess <= 0 || s.provesDone(minSuccess) {
		return true
	}
	word := v.SoakedKnown && v.Soaked >= minSuccess
	switch {
	case !word:
		s.SoakedSeenAt, s.Lease = time.Time{}, ""
	case s.SoakedSeenAt.IsZero():
		s.SoakedSeenAt = now
	}
	j.until = s.ReadySeenAt.Add(minSuccess)
	switch {
	case now.Before(j.until):
		// A soak that was made longer: what was read of the lease before its end says
		// nothing about the time after.
		s.Lease = ""
		return false
	case !word:
		j.overdue = !now.Before(j.until.Add(confirmDelay))
		return false
	case !s.SoakedSeenAt.Before(j.until) && s.SoakedSeenAt.Before(j.until.Add(confirmDelay)):
		return true
	}
	// The agent's word came before the soak was over here, or so late that it may have
	// been there before, unseen: it says nothing about the time since. The lease has to
	// move.
	if s.Lease != "" && c.Lease != "" && s.Lease != c.Lease {
		return true
	}
	if s.Lease == "" {
		s.Lease = c.Lease
	}
	j.wantsLease, j.overdue = true, !now.Before(j.until.Add(confirmDelay))
	return false
}

const tripleSeparator = "|"

// triple names one unbroken success: the admission, the agent's readySince and the
// transition of the ManagedCluster's Available.
func triple(v *Verdict, c *Cluster) string {
	return v.Admission + tripleSeparator + v.ReadySince + tripleSeparator + c.AvailableSince
}

// isTriple is s == triple(v, c), without building it for every cluster in every plan.
func isTriple(s string, v *Verdict, c *Cluster) bool {
	for i, part := range [...]string{v.Admission, v.ReadySince, c.AvailableSince} {
		if i > 0 {
			var ok bool
			if s, ok = strings.CutPrefix(s, tripleSeparator); !ok {
				return false
			}
		}
		var ok bool
		if s, ok = strings.CutPrefix(s, part); !ok {
			return false
		}
	}
	return s == ""
}
