package rollout

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// judgeOfPlans checks plans against what it saw itself of the fleet. It knows
// nothing of the planner's code: it is certain of less, and never wrong.
type judgeOfPlans struct {
	s    *sim
	seen map[string]*sighting
	rand *rand.Rand
	// under is the source that is in force; "" before the first one.
	under string
	// groups ever had members, by lane/name.
	groups map[string]bool
	// removed are the clusters whose removal was wanted, while their work is there;
	// lost counts them all, works is the most works ever.
	removed     map[string]bool
	lost, works int
	// revision of the last plan, and when the judge saw it first.
	revision      string
	revisionSince time.Time
}

// sighting is what the judge saw of one cluster.
type sighting struct {
	// well is since when the hub has seen unbroken success on one admission, alive
	// when the cluster was last connected while it was well.
	well, alive time.Time
	token       string
	// placed is since when everything about its places was the same; unwanted since
	// when neither targets nor decisions, as they apply, want it, without a taint.
	placed   time.Time
	places   string
	unwanted time.Time
	unshown  time.Time
	// shows is what each lane's decisions show now, since when, and what they showed
	// for the whole settle time the last time they did.
	shows   map[string]string
	since   map[string]time.Time
	settled map[string]string
	// inLane is since when each lane has the cluster, without a gap.
	inLane map[string]time.Time
	// admission is the present one, admitted when it was first seen; ended is true once
	// it had success or a terminal error, doneOn the success that was told Done.
	admission string
	admitted  time.Time
	ended     bool
	doneOn    string
	doneSoak  time.Duration
}

func newJudge(s *sim) *judgeOfPlans {
	return &judgeOfPlans{
		s: s, seen: map[string]*sighting{}, rand: rand.New(rand.NewSource(1)), groups: map[string]bool{}, removed: map[string]bool{},
	}
}

// watch looks at the fleet before the second's plans.
func (j *judgeOfPlans) watch() {
	for name, c := range j.s.clusters {
		v := j.seen[name]
		if v == nil {
			v = &sighting{shows: map[string]string{}, since: map[string]time.Time{}, settled: map[string]string{}, inLane: map[string]time.Time{}}
			j.seen[name] = v
		}
		shown := !j.s.hidden[name] && c.Exists
		places := fmt.Sprint(c.groups, shown, c.labels, c.Exists, c.Unreachable, j.s.gone, j.s.inconsistent, len(j.s.blocks), j.s.source, j.under)
		if places != v.places {
			v.places, v.placed = places, j.s.now
		}
		for _, l := range j.s.lanes {
			group, in := c.groups[l.Name]
			// Also what ends just now was shown until now.
			if was, ok := strings.CutSuffix(v.shows[l.Name], "true"); ok && j.s.now.Sub(v.since[l.Name]) >= j.s.settle {
				v.settled[l.Name] = was
			}
			if now := fmt.Sprintf("%s%v", group, in && shown); now != v.shows[l.Name] || v.since[l.Name].IsZero() {
				v.shows[l.Name], v.since[l.Name] = now, j.s.now
			}
			start := v.inLane[l.Name]
			restart(&start, j.s.now, in && shown && c.labels && (c.Work == nil || c.Work.Place.Lane == l.Name))
			v.inLane[l.Name] = start
		}
		noTargets := j.s.implicit && j.s.source == defaultSource
		restart(&v.unwanted, j.s.now, !c.Unreachable && (!c.labels || noTargets || (j.s.implicit && !shown)))
		restart(&v.unshown, j.s.now, !c.Unreachable && !shown)
	}
}

// restart keeps the start of a condition that holds.
func restart(since *time.Time, now time.Time, holds bool) {
	switch {
	case !holds:
		*since = time.Time{}
	case since.IsZero():
		*since = now
	}
}

// see follows success as the input shows it.
func (j *judgeOfPlans) see(in Input) {
	for i := range in.Clusters {
		c := &in.Clusters[i]
		v := j.seen[c.Name]
		if v == nil {
			continue
		}
		well := c.Work != nil && c.Available && c.Work.Verdict.Admission == c.Work.Admission && c.Work.Verdict.Ready && c.Work.Verdict.Applied
		token := ""
		if well {
			token = c.Work.Admission + c.Work.Verdict.ReadySince + c.AvailableSince
		}
		if token != v.token {
			v.token, v.well = token, time.Time{}
		}
		restart(&v.well, j.s.now, well)
		j.seeAdmission(c, v)
		if well && !j.s.clusters[c.Name].cut {
			v.alive = j.s.now
		}
	}
}

// seeAdmission follows the cluster's present admission.
func (j *judgeOfPlans) seeAdmission(c *Cluster, v *sighting) {
	if c.Work == nil {
		v.admission = ""
		return
	}
	if c.Work.Admission != v.admission {
		v.admission, v.admitted, v.ended, v.doneOn = c.Work.Admission, j.s.now, false, ""
	}
	own := c.Work.Verdict.Admission == c.Work.Admission
	v.ended = v.ended || !v.well.IsZero() || (own && c.Work.Verdict.Terminal)
}

func (j *judgeOfPlans) check(in Input, r Result) error {
	if in.Revision != j.revision {
		j.revision, j.revisionSince = in.Revision, j.s.now
	}
	j.see(in)
	for _, check := range []func(Input, Result) error{j.shapes, j.sameSource, j.noGroupMissing, j.fewRemovals, j.rests, j.heldDoesNothing, j.doneIsDone, j.newcomers, j.order, j.settled, j.budget, j.unavailable, j.concurrency, j.joins, j.removals, j.sameInAnyOrder} {
		if err := check(in, r); err != nil {
			return err
		}
	}
	return nil
}

// shapes: one action for a cluster, only desired ids, counts that add up.
func (j *judgeOfPlans) shapes(in Input, r Result) error {
	acted := map[string]bool{}
	for _, a := range r.Admit {
		if acted[a.Cluster] || a.ID != a.Revision || (a.ID != in.Revision && a.ID != in.Record.CompletedRevision) {
			return fmt.Errorf("%s admitted twice or to %q", a.Cluster, a.ID)
		}
		acted[a.Cluster] = true
	}
	for _, f := range r.Refresh {
		if acted[f.Cluster] || j.s.clusters[f.Cluster].Work.ID != in.Revision {
			return fmt.Errorf("%s refreshed and admitted, or refreshed on an older id", f.Cluster)
		}
		acted[f.Cluster] = true
	}
	for _, d := range r.Remove {
		if acted[d.Cluster] {
			return fmt.Errorf("%s removed and more", d.Cluster)
		}
		acted[d.Cluster] = true
	}
	c := r.Counts
	if c.Total != c.Pending+c.Progressing+c.Soaking+c.Done+c.Failed+c.TimedOut+c.Recovering {
		return fmt.Errorf("counts do not add up: %+v", c)
	}
	return nil
}

// heldDoesNothing: nothing is admitted or removed while something is unknown.
func (j *judgeOfPlans) heldDoesNothing(in Input, r Result) error {
	// Without a Placement none is looked at.
	gone := j.s.gone && j.s.source != defaultSource && j.s.lanes[0].Placement != ""
	held := j.s.inconsistent || gone || len(in.Pauses) > 0 || len(in.Blocks) > 0
	if held && r.Hold == nil && len(in.Clusters) > 0 && (len(in.Pauses) > 0 || len(in.Blocks) > 0 || gone) {
		return fmt.Errorf("not held")
	}
	if (r.Hold != nil || len(in.Pauses) > 0 || len(in.Blocks) > 0 || gone) && len(r.Admit)+len(r.Remove) > 0 {
		return fmt.Errorf("held and still %v %v", r.Admit, r.Remove)
	}
	return nil
}

// doneIsDone: unbroken success for the soak by the hub's clock, and a sign of life after it.
func (j *judgeOfPlans) doneIsDone(in Input, r Result) error {
	if in.Source.Name != j.under {
		return nil // Its soaks are not in force.
	}
	for _, c := range r.Clusters {
		if c.State != Done || !c.InLane {
			continue
		}
		v := j.seen[c.Name]
		soak := soakOf(in, c.Place)
		if v.well.IsZero() || j.s.now.Sub(v.well) < soak || (soak > 0 && v.alive.Sub(v.well) < soak) {
			return fmt.Errorf("%s is Done after %v of success, last sign of life %v after its begin, soak %v", c.Name, j.s.now.Sub(v.well), v.alive.Sub(v.well), soak)
		}
		if w := j.s.clusters[c.Name].Work; w == nil || (w.ID != in.Revision && c.Selected) {
			return fmt.Errorf("%s is Done on another id", c.Name)
		}
		v.doneOn, v.doneSoak = v.token, soak
	}
	return nil
}

// member tells whether the cluster certainly counts in a group of the lane, and which.
func (j *judgeOfPlans) member(name, lane string) (string, bool) {
	c, v := j.s.clusters[name], j.seen[name]
	w := c.Work
	last := ""
	for _, l := range j.s.lanes {
		if _, ok := c.groups[l.Name]; ok {
			last = l.Name
		}
	}
	stable := j.s.now.Sub(v.placed) > 2*j.s.settle+2*j.s.grace
	shown := !j.s.hidden[name]
	switch {
	case !c.Exists || !c.labels:
		return "", false
	case shown && stable:
		return c.groups[lane], last == lane
	case !shown && w != nil && w.Place.Lane == lane && !c.Unreachable && !v.unshown.IsZero() && j.s.now.Sub(v.unshown) < j.s.grace && j.s.now.Sub(v.placed) < j.s.settle && last == lane:
		return w.Place.Name, w.Place.Name == c.groups[lane]
	case !shown && w != nil && w.Place.Lane == lane && c.Unreachable && (w.ID == j.s.revision || w.Stamps.DoneAt.IsZero()) && last == lane:
		return w.Place.Name, w.Place.Name == c.groups[lane]
	}
	return "", false
}

// rank of a group in the order that people expect.
func (j *judgeOfPlans) rank(lane, group string) int {
	if group == "" {
		return 1000
	}
	return slices.Index(j.s.declared[lane], group)
}

// order: nothing is admitted to a group unless all earlier ones pass now.
func (j *judgeOfPlans) order(in Input, r Result) error {
	states := map[string]State{}
	for _, c := range r.Clusters {
		states[c.Name] = c.State
	}
	for _, a := range r.Admit {
		var spec LaneSpec
		for _, l := range in.Source.Lanes {
			if l.Name == a.Place.Lane {
				spec = l
			}
		}
		if spec.Strategy.Type == All || a.ID != in.Revision {
			continue
		}
		failures := map[string]int{}
		sizes := map[string]int{}
		for _, name := range j.s.names() {
			group, ok := j.member(name, spec.Name)
			if !ok || !j.before(spec, group, a.Place.Name) || !j.wasThere(name, spec.Name) {
				continue
			}
			sizes[group]++
			if !states[name].Settled() {
				return fmt.Errorf("%s admitted to %s while %s of %s is %s", a.Cluster, a.Place.Name, name, group, states[name])
			}
			if w := j.s.clusters[name].Work; w == nil || w.ID != in.Revision {
				return fmt.Errorf("%s admitted to %s while %s of %s does not have the revision", a.Cluster, a.Place.Name, name, group)
			}
			if states[name].Failure() {
				failures[group]++
			}
		}
		for group, n := range failures {
			b := spec.Strategy.MaxFailures
			if own := spec.Strategy.Groups[group].MaxFailures; own != nil {
				b = *own
			}
			if mandatory(spec, group) {
				b = intstr.FromInt32(0)
			}
			if b.Type == intstr.Int && n > min(b.IntValue(), sizes[group]) {
				return fmt.Errorf("%s admitted to %s with %d failures in %s", a.Cluster, a.Place.Name, n, group)
			}
		}
	}
	return nil
}

// settled: nobody is admitted to a place that was shown for less than the settle
// time, unless it was there before.
func (j *judgeOfPlans) settled(in Input, r Result) error {
	for _, a := range r.Admit {
		if a.Place.Lane == DefaultLane {
			continue // Nobody has to believe a Placement here.
		}
		w := j.s.clusters[a.Cluster].Work
		before := w != nil && w.Place.Lane == a.Place.Lane && w.Place.Name == a.Place.Name
		if group, ok := j.seen[a.Cluster].settled[a.Place.Lane]; !before && (!ok || group != a.Place.Name) {
			return fmt.Errorf("%s admitted to %s, which was shown only since %v", a.Cluster, a.Place.Name, j.seen[a.Cluster].since)
		}
	}
	return nil
}

// budget: a breach stops its lane. More than there are clusters tolerates all, so the
// judge is only certain where enough of them were there from the start.
func (j *judgeOfPlans) budget(in Input, r Result) error {
	for _, l := range in.Source.Lanes {
		if l.Strategy.Type == All {
			continue
		}
		tallies := map[GroupKey]*tallyOfFailures{}
		whole := &tallyOfFailures{}
		for _, c := range r.Clusters {
			if !c.InLane || c.Place.Lane != l.Name {
				continue
			}
			t := tallies[c.Place.GroupKey]
			if t == nil {
				t = &tallyOfFailures{}
				tallies[c.Place.GroupKey] = t
			}
			t.add(c.State, j.wasThere(c.Name, l.Name))
			whole.add(c.State, j.wasThere(c.Name, l.Name))
		}
		breached := l.Strategy.Type == Progressive && whole.above(l.Strategy.MaxFailures)
		for key, t := range tallies {
			switch own := l.Strategy.Groups[key.Name].MaxFailures; {
			case mandatory(l, key.Name):
				breached = breached || t.failed > 0
			case own != nil:
				breached = breached || t.above(*own)
			case l.Strategy.Type == ProgressivePerGroup:
				breached = breached || t.above(l.Strategy.MaxFailures)
			}
		}
		for _, a := range r.Admit {
			if breached && a.Place.Lane == l.Name && a.ID == in.Revision {
				return fmt.Errorf("%s admitted after too many failures in lane %s", a.Cluster, l.Name)
			}
		}
	}
	return nil
}

// removals: only what nobody wanted for the whole grace, and what is not unreachable.
func (j *judgeOfPlans) removals(_ Input, r Result) error {
	for _, d := range r.Remove {
		c, v := j.s.clusters[d.Cluster], j.seen[d.Cluster]
		if !c.Exists {
			continue
		}
		if c.Unreachable || v.unwanted.IsZero() || j.s.now.Sub(v.unwanted) < j.s.grace {
			return fmt.Errorf("%s removed although it was unwanted for %v only, unreachable %v", d.Cluster, j.s.now.Sub(v.unwanted), c.Unreachable)
		}
	}
	return nil
}

// sameInAnyOrder: the order of lists does not matter.
func (j *judgeOfPlans) sameInAnyOrder(in Input, r Result) error {
	if j.rand.Intn(8) > 0 {
		return nil
	}
	again := in
	again.Clusters = slices.Clone(in.Clusters)
	j.rand.Shuffle(len(again.Clusters), func(a, b int) { again.Clusters[a], again.Clusters[b] = again.Clusters[b], again.Clusters[a] })
	again.Pauses = slices.Clone(in.Pauses)
	slices.Reverse(again.Pauses)
	again.Record.Groups = slices.Clone(in.Record.Groups)
	slices.Reverse(again.Record.Groups)
	if diff := cmp.Diff(r, j.s.plan(again, j.s.now), cmpopts.EquateEmpty()); diff != "" {
		return fmt.Errorf("another order gives another plan:\n%s", strings.TrimSpace(diff))
	}
	return nil
}
