package rollout

import (
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// agreed tells whether a person confirmed this for the revision.
func agreed(in Input, reason Reason, subject string) bool {
	return slices.ContainsFunc(in.Confirmations, func(c Confirmation) bool {
		return c.Reason == reason && c.Subject == subject && c.Revision == in.Revision
	})
}

// sameSource: under another source than before nothing happens until a person
// confirms it, over restarts too.
func (j *judgeOfPlans) sameSource(in Input, r Result) error {
	if len(in.Blocks) > 0 || in.Source.Hold != nil {
		return nil
	}
	switch {
	case j.under == in.Source.Name:
	case j.under == "" && in.Source.NoTargets:
	case j.under == "":
		j.under = in.Source.Name
	case agreed(in, RolloutSourceChanged, in.Source.Name):
		j.under = in.Source.Name
		for _, key := range sortedKeys(j.groups) {
			if in.Source.Name == defaultSource {
				delete(j.groups, key)
			}
		}
	case len(r.Admit)+len(r.Remove)+len(r.Refresh) > 0:
		return fmt.Errorf("under %s instead of %s, and still %v %v %v", in.Source.Name, j.under, r.Admit, r.Remove, r.Refresh)
	case len(r.Confirm) == 0:
		return fmt.Errorf("under %s instead of %s, and nobody is asked", in.Source.Name, j.under)
	}
	return nil
}

// noGroupMissing: nothing is admitted in a lane that lost a named group which had members.
func (j *judgeOfPlans) noGroupMissing(in Input, r Result) error {
	if r.Hold != nil && r.Hold.Reason != Paused {
		return nil
	}
	has := map[string]bool{}
	for _, l := range r.Lanes {
		for _, g := range l.Groups {
			if l.Name != DefaultLane && g.Name != "" && g.Counts.Total > 0 {
				has[l.Name+"/"+shownGroup(g.Name)] = true
			}
		}
	}
	for _, key := range sortedKeys(j.groups) {
		if has[key] {
			continue
		}
		if agreed(in, GroupVanished, key) {
			delete(j.groups, key)
			continue
		}
		for _, a := range r.Admit {
			if place := a.Place.Lane + "/"; len(key) > len(place) && key[:len(place)] == place {
				return fmt.Errorf("%s admitted although group %s has no members any more", a.Cluster, key)
			}
		}
	}
	for key := range has {
		j.groups[key] = true
	}
	return nil
}

// fewRemovals: within the hour that a history lasts at the very most, no more than
// five clusters lose the bundle without a person, and never all of several.
func (j *judgeOfPlans) fewRemovals(in Input, r Result) error {
	works, stay := 0, 0
	going := map[string]bool{}
	for _, d := range r.Remove {
		going[d.Cluster] = true
	}
	for i := range in.Clusters {
		c := &in.Clusters[i]
		if c.Work == nil {
			delete(j.removed, c.Name)
			continue
		}
		works++
		if !going[c.Name] {
			stay++
		}
	}
	j.works = max(j.works, works)
	asked := false
	for _, d := range r.Remove {
		if d.Deleted || j.removed[d.Cluster] {
			continue
		}
		j.removed[d.Cluster] = true
		j.lost++
		asked = asked || !slices.ContainsFunc(in.Confirmations, func(c Confirmation) bool {
			return c.Reason == RemovalGuard && c.Revision == in.Revision && slices.Contains(c.Clusters, d.Cluster)
		})
	}
	if asked && (j.lost > 5 || (stay == 0 && j.works > 1)) {
		return fmt.Errorf("%d removals so far, %d of %d works stay, and nobody was asked: %v", j.lost, stay, j.works, r.Remove)
	}
	return nil
}

// rests: when nothing is to be done, the same plan again remembers nothing new.
func (j *judgeOfPlans) rests(in Input, r Result) error {
	if len(r.Admit)+len(r.Refresh)+len(r.Remove)+len(r.Stamp) > 0 || j.rand.Intn(8) > 0 {
		return nil
	}
	in.Record, in.Absent = r.Record, r.Absent
	if diff := cmp.Diff(r.Record, j.s.plan(in, j.s.now).Record, cmpopts.EquateEmpty()); diff != "" {
		return fmt.Errorf("the record never comes to rest:\n%s", diff)
	}
	return nil
}
