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

// rolloutConditions are the conditions that go with a new status after a plan. before
// are those that stand, for their transition times.
func rolloutConditions(s *v1alpha1.RolloutStatus, before []metav1.Condition, f *facts, q *question, plan *rollout.Result) []metav1.Condition {
	out := make([]metav1.Condition, len(before))
	copy(out, before)
	set := func(kind string, is bool, reason, message string) {
		status := metav1.ConditionFalse
		if is {
			status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&out, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: cut(message), ObservedGeneration: s.ObservedGeneration,
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
	if hold := firstHold(plan); hold != nil {
		set(v1alpha1.RolloutHeld, true, string(hold.Reason), hold.Sentence)
	} else {
		set(v1alpha1.RolloutHeld, false, "NotHeld", "nothing holds the rollout or one of its lanes")
	}
	pinned, why, message := pinnedCondition(f, s.BundleRevision)
	set(v1alpha1.RolloutPinned, pinned, why, message)
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

// firstHold is what holds the whole rollout, or else the first lane that is held.
func firstHold(plan *rollout.Result) *rollout.Hold {
	if plan.Hold != nil {
		return plan.Hold
	}
	for i := range plan.Lanes {
		if hold := plan.Lanes[i].Hold; hold != nil {
			return &rollout.Hold{Reason: hold.Reason, Sentence: "lane " + plan.Lanes[i].Name + ": " + hold.Sentence}
		}
	}
	return nil
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
