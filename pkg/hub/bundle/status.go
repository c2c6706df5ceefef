package bundle

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// Bounds of the lists in a status.
const (
	maxMessage         = 1024
	maxGroups          = 1000
	maxHeldPerGroup    = 20
	maxHeld            = 200
	maxPartitions      = 50
	maxNonReadyCluster = 10
	unmatched          = "(unmatched)"
)

// rolloutStatus is the status of a Rollout after a plan. before is what it was:
// conditions depend on it for their transition times, and counts while the bundle
// cannot be read.
func rolloutStatus(before v1alpha1.RolloutStatus, generation int64, f *facts, q *question, plan *rollout.Result) v1alpha1.RolloutStatus {
	s := v1alpha1.RolloutStatus{
		ObservedGeneration: generation,
		Source:             f.source.Name,
		CurrentGroup:       currentGroup(f, plan),
		Done:               fmt.Sprintf("%d/%d", plan.Counts.Done, plan.Counts.Total),
		Reason:             string(plan.Reason),
		Message:            cut(plan.Sentence),
		Counts:             countsOf(plan.Counts),
	}
	remember(&s, plan.Record)
	s.Conditions = rolloutConditions(before.Conditions, generation, f, plan)
	if !q.matched {
		// Nobody can say which clusters the bundle selects.
		s.CurrentGroup, s.Done, s.Counts, s.Lanes = before.CurrentGroup, before.Done, before.Counts, before.Lanes
		return s
	}
	byName := make(map[string]*rollout.ClusterResult, len(plan.Clusters))
	for i := range plan.Clusters {
		byName[plan.Clusters[i].Name] = &plan.Clusters[i]
	}
	room := maxHeld
	for _, lane := range plan.Lanes {
		ls := v1alpha1.LaneStatus{Name: lane.Name, Type: lane.Type}
		for _, g := range lane.Groups[:min(len(lane.Groups), maxGroups)] {
			ls.Groups = append(ls.Groups, groupStatus(g, byName, &room))
		}
		s.Lanes = append(s.Lanes, ls)
	}
	return s
}

// groupStatus takes the clusters that it names out of room.
func groupStatus(g rollout.GroupResult, clusters map[string]*rollout.ClusterResult, room *int) v1alpha1.GroupStatus {
	gs := v1alpha1.GroupStatus{
		Name: shownGroup(g.GroupKey), Index: int32(g.Index),
		Open: g.Open, Passed: g.Passed, Breached: g.Breached, MaxFailures: int32(g.MaxFailures),
		Counts: countsOf(g.Counts), OpenedAt: secondsPtr(g.OpenedAt), NextAt: secondsPtr(g.NextAt),
		Reason: string(g.Reason), Message: cut(g.Sentence),
	}
	if g.Passed || !g.Open {
		return gs
	}
	for _, name := range g.Holding {
		c := clusters[name]
		if c == nil || *room == 0 || len(gs.Clusters) == maxHeldPerGroup {
			break
		}
		*room--
		gs.Clusters = append(gs.Clusters, v1alpha1.HeldCluster{
			Name: name, State: string(c.State), Reason: string(c.Reason), Message: cut(c.Sentence),
		})
	}
	return gs
}

func shownGroup(k rollout.GroupKey) string {
	if k.Name == "" {
		return unmatched
	}
	return k.Name
}

// groupName names a group for people; the lane only where there are several.
func groupName(lanes int, p rollout.Place) string {
	name := shownGroup(p.GroupKey)
	if p.Index > 0 {
		name = fmt.Sprintf("%s[%d]", name, p.Index)
	}
	if lanes > 1 {
		return p.Lane + "/" + name
	}
	return name
}

func currentGroup(f *facts, plan *rollout.Result) string {
	if plan.Current == nil {
		return ""
	}
	// Always with its lane: the API says so.
	return groupName(max(2, len(f.source.Lanes)), *plan.Current)
}

func countsOf(c rollout.Counts) v1alpha1.StateCounts {
	return v1alpha1.StateCounts{
		Total: int32(c.Total), Pending: int32(c.Pending), Progressing: int32(c.Progressing), Soaking: int32(c.Soaking),
		Done: int32(c.Done), Failed: int32(c.Failed), TimedOut: int32(c.TimedOut), Recovering: int32(c.Recovering),
	}
}

// rolloutConditions are the conditions after a plan.
func rolloutConditions(before []metav1.Condition, generation int64, f *facts, plan *rollout.Result) []metav1.Condition {
	out := make([]metav1.Condition, len(before))
	copy(out, before)
	set := func(kind string, is bool, reason, message string) {
		status := metav1.ConditionFalse
		if is {
			status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&out, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: cut(message), ObservedGeneration: generation,
			LastTransitionTime: metav1.Time{Time: f.now.UTC().Truncate(time.Second)},
		})
	}
	reason := string(plan.Reason)
	if reason == "" {
		reason = string(rollout.InProgress)
	}
	set(v1alpha1.RolloutComplete, plan.Complete, reason, plan.Sentence)
	if plan.Breached {
		set(v1alpha1.RolloutBreached, true, string(rollout.FailureBudgetExceeded), breach(plan))
	} else {
		set(v1alpha1.RolloutBreached, false, "WithinBudget", "no group has more failures than it tolerates")
	}
	if plan.Hold != nil {
		set(v1alpha1.RolloutHeld, true, string(plan.Hold.Reason), plan.Hold.Sentence)
	} else {
		set(v1alpha1.RolloutHeld, false, "NotHeld", "nothing holds the whole rollout")
	}
	if lane, why := inconsistent(f); lane != "" {
		set(v1alpha1.RolloutPlacementConsistent, false, string(rollout.PlacementInconsistent),
			fmt.Sprintf("Placement %s: %s", lane, why))
	} else {
		set(v1alpha1.RolloutPlacementConsistent, true, "Consistent", "the decisions of every Placement fit its status")
	}
	if warnings := warningsOf(f, plan); len(warnings) > 0 {
		set(v1alpha1.RolloutWarning, true, string(warnings[0].Reason), sentences(warnings))
	} else {
		set(v1alpha1.RolloutWarning, false, "NoWarning", "nothing unusual was seen")
	}
	return out
}

// warningsOf are the plan's, after the cause of all removals where nothing is bound to
// the namespace any more: the plan sees clusters that nobody selects, and not why.
func warningsOf(f *facts, plan *rollout.Result) []rollout.Hold {
	missing := f.reach.Missing()
	if missing == "" || len(f.works) == 0 {
		return plan.Warnings
	}
	return append([]rollout.Hold{{Reason: rollout.BindingMissing, Sentence: missing}}, plan.Warnings...)
}

// breach is the sentence of the first group that is breached.
func breach(plan *rollout.Result) string {
	for _, lane := range plan.Lanes {
		for _, g := range lane.Groups {
			if g.Breached {
				return g.Sentence
			}
		}
	}
	return plan.Sentence
}

// inconsistent is the first Placement whose decisions have not fitted its status
// for long enough to say so.
func inconsistent(f *facts) (name, why string) {
	for _, lane := range f.source.Lanes {
		if why, yes := f.views[lane.Placement].Inconsistent(f.now); yes {
			return lane.Placement, why
		}
	}
	return "", ""
}

func sentences(holds []rollout.Hold) string {
	texts := make([]string, 0, len(holds))
	for _, h := range holds {
		texts = append(texts, h.Sentence)
	}
	return strings.Join(texts, "; ")
}

// cut shortens a message to what the API takes, at a whole character.
func cut(s string) string {
	const more = "…"
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage-len(more)], "") + more
}
