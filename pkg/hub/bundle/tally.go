package bundle

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// tally is what is counted of one bundle.
type tally struct {
	clusters map[stateKey]int
	// reason in force since at, and the seconds of all reasons before then. Nothing
	// is counted while the reason is "".
	reason rollout.Reason
	at     time.Time
	held   map[rollout.Reason]time.Duration
	// oldest is since when the oldest unsettled cluster is; zero if there is none.
	oldest   time.Time
	breaches map[groupKey]int
}

type groupKey struct{ lane, group string }

type stateKey struct {
	groupKey
	state rollout.State
}

// tallies has one tally for each bundle that was planned.
type tallies struct {
	mu sync.Mutex
	of map[types.NamespacedName]*tally
}

// change calls do with a bundle's tally.
func (t *tallies) change(key types.NamespacedName, do func(*tally)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[types.NamespacedName]*tally{}
	}
	if t.of[key] == nil {
		t.of[key] = &tally{held: map[rollout.Reason]time.Duration{}, breaches: map[groupKey]int{}}
	}
	do(t.of[key])
}

func (t *tallies) each(do func(namespace, bundle string, t *tally)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, one := range t.of {
		do(key.Namespace, key.Name, one)
	}
}

// count takes over what a plan says. Which clusters a bundle selects that cannot be
// read nobody knows: what was counted before stands.
func (m *Metrics) count(bundle types.NamespacedName, plan *rollout.Result, matched bool, now time.Time) {
	m.tallies.change(bundle, func(t *tally) {
		t.hold(plan.Reason, now)
		if matched {
			t.clusters, t.oldest = clustersOf(plan), oldestOf(plan)
			// Prometheus sees a counter grow only if it has seen it before.
			for _, key := range groupKeys(plan) {
				t.breach(key, 0)
			}
		}
	})
}

// breached counts breaches. Series of their own have as many groups as above.
func (m *Metrics) breached(bundle types.NamespacedName, groups []rollout.Place) {
	m.tallies.change(bundle, func(t *tally) {
		for _, g := range groups {
			t.breach(groupKey{g.Lane, groupName(1, g)}, 1)
		}
	})
}

func (t *tally) breach(key groupKey, n int) {
	if _, ok := t.breaches[key]; !ok && len(t.breaches) >= maxMetricGroups {
		// Groups come and go, and none of them takes its series along.
		key.group = otherGroups
	}
	t.breaches[key] += n
}

// forget removes the series of a bundle that is gone.
func (m *Metrics) forget(bundle types.NamespacedName) {
	m.tallies.mu.Lock()
	defer m.tallies.mu.Unlock()
	delete(m.tallies.of, bundle)
}

// hold adds the time since the last plan to the reason that was in force, and begins
// with the next one.
func (t *tally) hold(reason rollout.Reason, now time.Time) {
	t.held = t.heldAt(now)
	t.reason, t.at = reason, now
	if reason == rollout.Complete {
		t.reason = ""
	}
	if _, ok := t.held[t.reason]; !ok && t.reason != "" {
		t.held[t.reason] = 0
	}
}

// heldAt are the seconds by reason until now.
func (t *tally) heldAt(now time.Time) map[rollout.Reason]time.Duration {
	out := make(map[rollout.Reason]time.Duration, len(t.held)+1)
	for reason, held := range t.held {
		out[reason] = held
	}
	if t.reason != "" {
		// A clock that is set back must not make a counter smaller.
		out[t.reason] += max(0, now.Sub(t.at))
	}
	return out
}

// oldestAt is the age of the oldest unsettled cluster.
func (t *tally) oldestAt(now time.Time) time.Duration {
	if t.oldest.IsZero() {
		return 0
	}
	return max(0, now.Sub(t.oldest))
}

// groupKeys are the labels of a plan's groups, in their order. The first ones have
// their own, all others share one in each lane.
func groupKeys(plan *rollout.Result) []groupKey {
	var out []groupKey
	for i := range plan.Lanes {
		lane := &plan.Lanes[i]
		for j := range lane.Groups {
			key := groupKey{lane.Name, otherGroups}
			if len(out) < maxMetricGroups {
				key.group = groupName(1, rollout.Place{GroupKey: lane.Groups[j].GroupKey})
			}
			out = append(out, key)
		}
	}
	return out
}

// clustersOf counts a plan's clusters by group and state. What the groups have not is
// counted without one, so that the sum is the number of clusters.
func clustersOf(plan *rollout.Result) map[stateKey]int {
	out := map[stateKey]int{}
	add := func(key groupKey, state rollout.State, n int) {
		if n > 0 {
			out[stateKey{key, state}] += n
		}
	}
	keys, left := groupKeys(plan), byState(plan.Counts)
	for i := range plan.Lanes {
		groups := plan.Lanes[i].Groups
		for j := range groups {
			for state, n := range byState(groups[j].Counts) {
				add(keys[j], state, n)
				left[state] -= n
			}
		}
		keys = keys[len(groups):]
	}
	for state, n := range left {
		add(groupKey{group: noGroup}, state, n)
	}
	return out
}

func byState(c rollout.Counts) map[rollout.State]int {
	return map[rollout.State]int{
		rollout.Pending: c.Pending, rollout.Progressing: c.Progressing, rollout.Soaking: c.Soaking, rollout.Done: c.Done,
		rollout.Failed: c.Failed, rollout.TimedOut: c.TimedOut, rollout.Recovering: c.Recovering,
	}
}

// oldestOf is since when the oldest unsettled cluster is in its state. One that is
// Pending, and of which nobody knows more, is so since its revision was first seen.
func oldestOf(plan *rollout.Result) time.Time {
	var oldest time.Time
	for i := range plan.Clusters {
		c := &plan.Clusters[i]
		if !c.InLane || c.State.Settled() {
			continue
		}
		since := c.Since
		if since.IsZero() && c.State == rollout.Pending {
			since = plan.Record.RevisionSince
		}
		if !since.IsZero() && (oldest.IsZero() || since.Before(oldest)) {
			oldest = since
		}
	}
	return oldest
}
