package rollout

import "time"

// How long decisions may contradict their Placement before it is worth a
// condition, and how soon they are looked at again.
const (
	inconsistentNotice = 30 * time.Second
	inconsistentRetry  = time.Second
)

// View is what is known of a Placement after looking at it over time. The hub
// keeps one for each Placement in memory and replaces it by Observe's answer.
//
// A cluster counts as having come, moved or left only after the settle time of
// consistent snapshots that agree on it. A view that is younger than that says
// nothing yet.
type View struct {
	// Snapshot is the latest one, consistent or not.
	Snapshot Snapshot

	settle time.Duration
	// start is when the first consistent snapshot was seen.
	start time.Time
	// believed is the latest consistent snapshot.
	believed Snapshot
	// places are shared by the clusters of which the same is known, and never written.
	places map[string]*placing
	// brokenSince is when the snapshots stopped being consistent; zero if they are.
	brokenSince time.Time
}

// placing is where a cluster was, and what the snapshots say since when.
type placing struct {
	was, seen GroupKey
	// wasKnown is false while nothing was ever settled; wasIn and in are false
	// where the cluster is in no group.
	wasKnown, wasIn, in bool
	since               time.Time
	// joined is when it came into the decisions; zero if it always was.
	joined time.Time
}

// Observe adds a snapshot to what was known; prev is nil at first, and is not changed.
func Observe(prev *View, s Snapshot, settle time.Duration, now time.Time) *View {
	now = now.UTC().Truncate(time.Microsecond)
	v := &View{}
	if prev != nil {
		*v = *prev
	}
	v.Snapshot, v.settle = s, settle
	if !s.Found || s.Inconsistent != "" {
		if v.brokenSince.IsZero() {
			v.brokenSince = now
		}
		return v
	}
	if !v.brokenSince.IsZero() && v.brokenSince.Before(v.settlesAt()) {
		// It was never settled: this is the first snapshot again.
		v.start, v.places = time.Time{}, nil
	}
	places := make(map[string]*placing, len(s.Where))
	shared := map[placing]*placing{}
	keep := func(name string, p placing) {
		same := shared[p]
		if same == nil {
			same = new(placing)
			*same = p
			shared[p] = same
		}
		places[name] = same
	}
	for name, key := range s.Where {
		keep(name, v.next(name, key, true, now))
	}
	for name, p := range v.places {
		if _, here := s.Where[name]; here || (!p.in && p.settled(v, v.asOf(now))) {
			continue
		}
		keep(name, v.next(name, GroupKey{}, false, now))
	}
	if v.start.IsZero() {
		v.start = now
	}
	v.places, v.believed, v.brokenSince = places, s, time.Time{}
	return v
}

// next is the placing of a cluster after one more consistent snapshot.
func (v *View) next(name string, key GroupKey, in bool, now time.Time) placing {
	p := v.placing(name)
	settled := p.settled(v, v.asOf(now))
	if settled {
		p.was, p.wasIn, p.wasKnown = p.seen, p.in, true
	}
	if in && !p.in && settled && !v.start.IsZero() {
		// One that was missing for less than the settle time has not come again.
		p.joined = now
	}
	same := p.seen == key && p.in == in
	if !same || (!settled && !v.brokenSince.IsZero()) || v.start.IsZero() {
		p.since = now
	}
	p.seen, p.in = key, in
	return p
}

// placing of a cluster; one that was never decided has been absent from the start.
func (v *View) placing(name string) placing {
	if p, ok := v.places[name]; ok {
		return *p
	}
	return placing{since: v.start}
}

// asOf is the time up to which the snapshots were consistent.
func (v *View) asOf(now time.Time) time.Time {
	if !v.brokenSince.IsZero() {
		return v.brokenSince
	}
	return now
}

func (p placing) settled(v *View, asOf time.Time) bool {
	return !v.start.IsZero() && !asOf.Before(p.since.Add(v.settle))
}

// settlesAt is when an unsettled placing counts if nothing changes; zero while the
// snapshots are not consistent.
func (p placing) settlesAt(v *View) time.Time {
	if v.start.IsZero() || !v.brokenSince.IsZero() {
		return time.Time{}
	}
	return p.since.Add(v.settle)
}

// at is where the cluster counts as being.
func (p placing) at(v *View, asOf time.Time) (key GroupKey, in bool) {
	if p.settled(v, asOf) {
		return p.seen, p.in
	}
	return p.was, p.wasKnown && p.wasIn
}

// settlesAt is when what the first snapshots said counts.
func (v *View) settlesAt() time.Time { return v.start.Add(v.settle) }

// InconsistentFor is how long the snapshots have been inconsistent, 0 if they are not.
func (v *View) InconsistentFor(now time.Time) time.Duration {
	if v == nil || v.brokenSince.IsZero() || now.Before(v.brokenSince) {
		return 0
	}
	return now.Sub(v.brokenSince)
}

// Inconsistent tells, with the reason, whether the snapshots have been
// inconsistent for long enough to say so in a condition.
func (v *View) Inconsistent(now time.Time) (string, bool) {
	if v == nil || !v.Snapshot.Found || v.InconsistentFor(now) < inconsistentNotice {
		return "", false
	}
	return v.Snapshot.Inconsistent, true
}
