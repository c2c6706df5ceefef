package bundle

import (
	"fmt"
	"slices"
	"time"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"github.com/rancher/wrangler/v3/pkg/genericcondition"
	corev1 "k8s.io/api/core/v1"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// Condition types of a Bundle. Ready is Fleet's; its message is the sentence that
// the Rollout shows.
const (
	conditionReady       = "Ready"
	conditionProgressing = "RolloutProgressing"
	conditionBreached    = "RolloutBreached"
)

// maxNonReadyCluster is how many clusters a Bundle's summary lists.
const maxNonReadyCluster = 10

// bundleStatus is the status of a Bundle after a plan, in Fleet's terms. What this
// project has no say in stays as it was.
func bundleStatus(f *facts, q *question, plan *rollout.Result) fleet.BundleStatus {
	s := *f.bundle.Status.DeepCopy()
	s.ObservedGeneration = f.bundle.Generation
	s.ResourcesSHA256Sum = q.packed.sum
	if q.matched {
		summarize(&s, f, plan)
	}
	s.Conditions = bundleConditions(s.Conditions, f.now, s.Summary, plan)
	return s
}

// summarize counts the clusters. Of a bundle that cannot be read nobody can say
// which ones it selects: what was counted before then stands.
func summarize(s *fleet.BundleStatus, f *facts, plan *rollout.Result) {
	after := afterPass(plan)
	s.Summary, s.Unavailable, s.NewlyCreated = fleet.BundleSummary{}, 0, 0
	for i := range plan.Clusters {
		c := &plan.Clusters[i]
		if !c.Selected {
			continue
		}
		count(&s.Summary, shown(after[i]))
		if !c.InLane && unavailable(after[i]) {
			s.Unavailable++
		}
	}
	s.Summary.NonReadyResources = nonReady(plan.Clusters, after)
	partition(s, f, plan, after)
	s.Display = fleet.BundleDisplay{
		ReadyClusters: fmt.Sprintf("%d/%d", s.Summary.Ready, s.Summary.DesiredReady),
		State:         string(worst(s.Summary)),
	}
}

// afterPass are the clusters' states in Fleet's words once the plan is carried out, in
// the order of the plan's clusters: Fleet shows those from before, and the first
// clusters of a rollout as if nothing had happened.
func afterPass(plan *rollout.Result) []rollout.Shown {
	admitted := make(map[string]rollout.Shown, len(plan.Admit))
	for _, a := range plan.Admit {
		admitted[a.Cluster] = rollout.ShownWaitApplied
		if a.Revision != plan.Record.Revision {
			// A newcomer that gets the last completed revision first.
			admitted[a.Cluster] = rollout.ShownOutOfSync
		}
	}
	out := make([]rollout.Shown, len(plan.Clusters))
	for i := range plan.Clusters {
		c := &plan.Clusters[i]
		out[i] = c.Shown
		// One that could not be written the last time is shown as it is until it can.
		if to, ok := admitted[c.Name]; ok && c.Reason != rollout.WorkRefused {
			out[i] = to
		}
	}
	return out
}

// shown is a cluster's state in the words that Fleet's API has.
func shown(s rollout.Shown) fleet.BundleState {
	switch s {
	case rollout.ShownReady:
		return fleet.Ready
	case rollout.ShownNotReady:
		return fleet.NotReady
	case rollout.ShownWaitApplied, rollout.ShownWaiting:
		return fleet.WaitApplied
	case rollout.ShownErrApplied:
		return fleet.ErrApplied
	case rollout.ShownOutOfSync:
		return fleet.OutOfSync
	case rollout.ShownModified:
		return fleet.Modified
	case rollout.ShownPending:
		return fleet.Pending
	default:
		return fleet.Pending
	}
}

// unavailable is a cluster that was admitted and is not successful.
func unavailable(s rollout.Shown) bool {
	switch s {
	case rollout.ShownWaitApplied, rollout.ShownErrApplied, rollout.ShownNotReady, rollout.ShownWaiting:
		return true
	default:
		return false
	}
}

func count(s *fleet.BundleSummary, state fleet.BundleState) {
	s.DesiredReady++
	switch state {
	case fleet.Ready:
		s.Ready++
	case fleet.NotReady:
		s.NotReady++
	case fleet.WaitApplied:
		s.WaitApplied++
	case fleet.ErrApplied:
		s.ErrApplied++
	case fleet.OutOfSync:
		s.OutOfSync++
	case fleet.Modified:
		s.Modified++
	case fleet.Pending:
		s.Pending++
	}
}

// worst is the state of the highest rank that a cluster is in. It counts all
// clusters, not only those that are listed.
func worst(s fleet.BundleSummary) fleet.BundleState {
	state := fleet.BundleState("")
	for candidate, n := range map[fleet.BundleState]int{
		fleet.Ready: s.Ready, fleet.NotReady: s.NotReady, fleet.WaitApplied: s.WaitApplied, fleet.ErrApplied: s.ErrApplied,
		fleet.OutOfSync: s.OutOfSync, fleet.Modified: s.Modified, fleet.Pending: s.Pending,
	} {
		if n > 0 && fleet.StateRank[candidate] > fleet.StateRank[state] {
			state = candidate
		}
	}
	return state
}

// nonReady lists the first clusters that are not ready, the worst first.
func nonReady(clusters []rollout.ClusterResult, after []rollout.Shown) []fleet.NonReadyResource {
	var out []fleet.NonReadyResource
	for i := range clusters {
		c := &clusters[i]
		if state := shown(after[i]); c.Selected && state != fleet.Ready {
			out = append(out, fleet.NonReadyResource{Name: c.Name, State: state, Message: c.Sentence})
		}
	}
	slices.SortStableFunc(out, func(a, b fleet.NonReadyResource) int {
		return fleet.StateRank[b.State] - fleet.StateRank[a.State]
	})
	out = out[:min(len(out), maxNonReadyCluster)]
	for i := range out {
		out[i].Message = cut(out[i].Message)
	}
	return out
}

func bundleConditions(before []genericcondition.GenericCondition, now time.Time, s fleet.BundleSummary,
	plan *rollout.Result) []genericcondition.GenericCondition {
	out := slices.Clone(before)
	ready := s.DesiredReady > 0 && s.Ready == s.DesiredReady && blockless(plan)
	out = setCondition(out, now, conditionReady, ready, string(plan.Reason), cut(plan.Sentence))
	progressing := !plan.Complete && plan.Hold == nil && !plan.Breached && s.DesiredReady > 0
	out = setCondition(out, now, conditionProgressing, progressing, string(plan.Reason), "")
	message := ""
	if plan.Breached {
		message = cut(breach(plan))
	}
	return setCondition(out, now, conditionBreached, plan.Breached, string(plan.Reason), message)
}

// blockless tells whether what the bundle says could be planned at all. A pause
// does not make clusters that are ready unready.
func blockless(plan *rollout.Result) bool {
	return plan.Hold == nil || plan.Hold.Reason == rollout.Paused
}

// setCondition sets a condition, with Fleet's two times as text: the one of the
// last change, and the one of the last change of the status.
func setCondition(list []genericcondition.GenericCondition, now time.Time, kind string, is bool, reason, message string) []genericcondition.GenericCondition {
	status := corev1.ConditionFalse
	if is {
		status = corev1.ConditionTrue
	}
	at := slices.IndexFunc(list, func(c genericcondition.GenericCondition) bool { return c.Type == kind })
	if at < 0 {
		list = append(list, genericcondition.GenericCondition{Type: kind})
		at = len(list) - 1
	}
	c := &list[at]
	if c.Status == status && c.Reason == reason && c.Message == message {
		return list
	}
	stamp := now.UTC().Format(time.RFC3339)
	if c.Status != status {
		c.LastTransitionTime = stamp
	}
	c.Status, c.Reason, c.Message, c.LastUpdateTime = status, reason, message, stamp
	return list
}
