package bundle

import (
	"cmp"
	"fmt"
	"time"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/lenient"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// rolloutStatus is the status of a Rollout after a plan. before is what it was:
// conditions depend on it for their transition times, and counts while the bundle
// cannot be read.
func rolloutStatus(before v1alpha1.RolloutStatus, generation int64, f *facts, q *question, plan *rollout.Result) v1alpha1.RolloutStatus {
	s := v1alpha1.RolloutStatus{
		ObservedGeneration: generation,
		BundleRevision:     bundleRevision(&before, f, q),
		Source:             f.source.Name,
		Reason:             string(plan.Reason),
		Message:            cut(plan.Sentence),
		Confirmations:      confirmationsOf(plan.Confirm),
	}
	remember(&s, plan.Record)
	s.Conditions = rolloutConditions(&s, before.Conditions, f, q, plan)
	if q.matched {
		s.CurrentGroup = currentGroup(f, plan)
		s.Done = fmt.Sprintf("%d/%d", plan.Counts.Done, plan.Counts.Total)
		s.Counts = countsOf(plan.Counts)
		s.Lanes = lanesOf(plan)
	} else {
		// Nobody can say which clusters the bundle selects.
		s.CurrentGroup, s.Done, s.Counts = before.CurrentGroup, before.Done, before.Counts
		s.Lanes = copyLanes(before.Lanes)
	}
	fit(&s, maxStatus)
	return s
}

// bundleRevision is what the bundle itself says. While it or its values cannot be read
// it is what it was.
func bundleRevision(before *v1alpha1.RolloutStatus, f *facts, q *question) string {
	if q.own == nil || q.own.unknown() || lenient.Unreadable(f.bundle) != "" {
		return before.BundleRevision
	}
	return q.own.revision
}

// lanesOf shows the lanes with their groups. What they say and name is bounded over
// all of them; what comes first has it first.
func lanesOf(plan *rollout.Result) []v1alpha1.LaneStatus {
	clusters := make(map[string]*rollout.ClusterResult, len(plan.Clusters))
	for i := range plan.Clusters {
		clusters[plan.Clusters[i].Name] = &plan.Clusters[i]
	}
	room := allRoom()
	var out []v1alpha1.LaneStatus
	for i := range plan.Lanes {
		lane := &plan.Lanes[i]
		ls := v1alpha1.LaneStatus{Name: lane.Name, Type: lane.Type}
		// The lane, or the rollout, says what all its closed groups wait for; else the
		// first of them does.
		told := plan.Hold != nil
		if lane.Hold != nil {
			ls.Reason, ls.Message, told = string(lane.Hold.Reason), cut(lane.Hold.Sentence), true
		}
		for j := range lane.Groups {
			g := &lane.Groups[j]
			if room.groups == 0 {
				ls.GroupsOmitted++
				continue
			}
			room.groups--
			gs := groupStatus(g)
			if closed := isClosed(&gs); !closed || !told {
				gs.Message = room.say(&gs, g.Sentence)
				told = told || closed
			}
			if g.Breached || (g.Open && !g.Passed) {
				gs.Clusters = room.held(g.Holding, clusters)
			}
			gs.NextClusters = room.next(g.Next)
			ls.Groups = append(ls.Groups, gs)
		}
		out = append(out, ls)
	}
	return out
}

// groupStatus is a group without what it says and whom it names.
func groupStatus(g *rollout.GroupResult) v1alpha1.GroupStatus {
	gs := v1alpha1.GroupStatus{
		Name: cmp.Or(g.Name, rollout.Unmatched), Index: int32(g.Index),
		Open: g.Open, Passed: g.Passed, Breached: g.Breached, MaxFailures: int32(g.MaxFailures),
		MinSuccessSeconds: wholeSeconds(g.MinSuccessTime), ProgressDeadlineSeconds: wholeSeconds(g.ProgressDeadline),
		Counts: countsOf(g.Counts), LateJoiners: int32(g.LateJoiners), Next: int32(len(g.Next)),
		OpenedAt: secondsPtr(g.OpenedAt), NextAt: secondsPtr(g.NextAt), Reason: string(g.Reason),
	}
	// No limit is below one cluster at a time.
	if g.MaxConcurrency > 0 {
		most := int32(g.MaxConcurrency)
		gs.MaxConcurrency, gs.InFlight = &most, int32(g.InFlight)
	}
	if g.MaxUnavailable >= 0 {
		most := int32(g.MaxUnavailable)
		gs.MaxUnavailable, gs.Unavailable = &most, int32(g.Unavailable)
	}
	return gs
}

// wholeSeconds rounds up: what is not over must not look so.
func wholeSeconds(d time.Duration) int64 {
	return int64((d + time.Second - 1) / time.Second)
}

func confirmationsOf(requests []rollout.ConfirmRequest) []v1alpha1.ConfirmationRequest {
	var out []v1alpha1.ConfirmationRequest
	for _, r := range requests[:min(len(requests), maxConfirmations)] {
		out = append(out, v1alpha1.ConfirmationRequest{
			Reason: string(r.Reason), Subject: r.Subject, Message: cut(r.Sentence),
			Clusters: r.Clusters[:min(len(r.Clusters), maxConfirmClusters)], Total: int32(len(r.Clusters)),
		})
	}
	return out
}

// groupName names a group for people; the lane only where there are several.
func groupName(lanes int, p rollout.Place) string {
	if lanes > 1 {
		return p.Lane + "/" + p.Label()
	}
	return p.Label()
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
