package bundle

import (
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// maxPartitions is how many partitions a Bundle's status lists; the counts beside the
// list are of all.
const maxPartitions = 50

// partition shows the groups as Fleet's API names them, after the pass.
func partition(s *fleet.BundleStatus, f *facts, plan *rollout.Result, after []rollout.Shown) {
	places := map[rollout.Place]int{}
	for _, lane := range plan.Lanes {
		for _, g := range lane.Groups {
			places[rollout.Place{Lane: lane.Name, GroupKey: g.GroupKey}] = len(places)
		}
	}
	summaries, behind := make([]fleet.BundleSummary, len(places)), make([]int, len(places))
	for i := range plan.Clusters {
		c := &plan.Clusters[i]
		at, ok := places[c.Place]
		if !ok || !c.InLane {
			continue
		}
		count(&summaries[at], shown(after[i]))
		if unavailable(after[i]) || after[i] == rollout.ShownPending || after[i] == rollout.ShownOutOfSync {
			behind[at]++
		}
	}
	s.PartitionStatus, s.UnavailablePartitions, s.MaxUnavailablePartitions = nil, 0, 0
	for _, lane := range plan.Lanes {
		for _, g := range lane.Groups {
			place := rollout.Place{Lane: lane.Name, GroupKey: g.GroupKey}
			at := places[place]
			s.Unavailable += g.Unavailable
			if waitedFor(&lane, &g, behind[at]) {
				s.UnavailablePartitions++
			}
			if len(s.PartitionStatus) < maxPartitions {
				s.PartitionStatus = append(s.PartitionStatus, fleet.PartitionStatus{
					Name: groupName(len(plan.Lanes), place), Count: g.Counts.Total,
					MaxUnavailable: most(&g), Unavailable: g.Unavailable, Summary: summaries[at],
				})
			}
		}
	}
	s.MaxUnavailable = s.Summary.DesiredReady
	strategy := f.bundle.Spec.RolloutStrategy
	if strategy == nil {
		return
	}
	s.MaxUnavailable = rollout.Limit(s.Summary.DesiredReady, strategy.MaxUnavailable)
	if strategy.MaxUnavailablePartitions != nil {
		s.MaxUnavailablePartitions = rollout.Limit(partitionsOf(plan), strategy.MaxUnavailablePartitions)
	}
}

// waitedFor tells whether later groups wait for this one. A partition is waited for
// while more of its clusters are behind than may be unavailable; any other group
// until it passes. One that has not started is nobody's trouble yet.
func waitedFor(lane *rollout.LaneResult, g *rollout.GroupResult, behind int) bool {
	if lane.Type == string(rollout.PartitionsType) {
		return g.Open && behind > most(g)
	}
	return g.Open && !g.Passed
}

// most is how many of a group's clusters may be unavailable; all where nothing limits
// it, as in Fleet.
func most(g *rollout.GroupResult) int {
	if g.MaxUnavailable < 0 {
		return g.Counts.Total
	}
	return g.MaxUnavailable
}

// partitionsOf counts Fleet's partitions.
func partitionsOf(plan *rollout.Result) int {
	n := 0
	for i := range plan.Lanes {
		if plan.Lanes[i].Type == string(rollout.PartitionsType) {
			n += len(plan.Lanes[i].Groups)
		}
	}
	return n
}
