package bundle

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

func TestCountsAreThoseAfterThePass(t *testing.T) {
	tests := map[string]struct {
		reason   rollout.Reason
		revision string
		before   rollout.Shown
		want     fleet.BundleSummary
	}{
		"a first install":      {"", "new", rollout.ShownPending, fleet.BundleSummary{WaitApplied: 1, DesiredReady: 1}},
		"an update":            {"", "new", rollout.ShownOutOfSync, fleet.BundleSummary{WaitApplied: 1, DesiredReady: 1}},
		"a newcomer":           {"", "old", rollout.ShownPending, fleet.BundleSummary{OutOfSync: 1, DesiredReady: 1}},
		"one that was refused": {rollout.WorkRefused, "new", rollout.ShownPending, fleet.BundleSummary{Pending: 1, DesiredReady: 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := shownOn("a", "dev", tt.before)
			c.Reason = tt.reason
			plan := planOf(c)
			plan.Record.Revision = "new"
			plan.Admit = []rollout.Admit{{Cluster: "a", Revision: tt.revision}}
			got := bundleStatus(factsOf(), &question{matched: true, packed: &packed{}}, plan)
			got.Summary.NonReadyResources = nil
			if diff := cmp.Diff(tt.want, got.Summary); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, got.PartitionStatus[0].Summary); diff != "" {
				t.Errorf("of the partition (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPartitionsAreCutAndCountedWhole(t *testing.T) {
	plan := &rollout.Result{}
	for _, lane := range []string{"east", "west"} {
		l := rollout.LaneResult{Name: lane, Type: string(rollout.All)}
		for i := range 40 {
			g := rollout.GroupResult{
				GroupKey: rollout.GroupKey{Name: fmt.Sprintf("g%02d", i)}, Open: true, MaxUnavailable: -1, Unavailable: 1,
				Counts: rollout.Counts{Total: 1},
			}
			l.Groups = append(l.Groups, g)
			plan.Clusters = append(plan.Clusters, rollout.ClusterResult{
				Name: lane + g.Name, InLane: true, Selected: true, Shown: rollout.ShownNotReady,
				Place: rollout.Place{Lane: lane, GroupKey: g.GroupKey},
			})
		}
		plan.Lanes = append(plan.Lanes, l)
	}
	got := bundleStatus(factsOf(), &question{matched: true, packed: &packed{}}, plan)
	if n := len(got.PartitionStatus); n != maxPartitions {
		t.Errorf("%d partitions are listed, want %d", n, maxPartitions)
	}
	if first, last := got.PartitionStatus[0].Name, got.PartitionStatus[maxPartitions-1].Name; first != "east/g00" || last != "west/g09" {
		t.Errorf("listed from %s to %s", first, last)
	}
	if got.Unavailable != 80 || got.UnavailablePartitions != 80 || got.Summary.NotReady != 80 || got.Display.State != "NotReady" {
		t.Errorf("%d clusters and %d partitions are unavailable, %d not ready, %s; want 80 and NotReady",
			got.Unavailable, got.UnavailablePartitions, got.Summary.NotReady, got.Display.State)
	}
}

func TestWhichPartitionsAreUnavailable(t *testing.T) {
	tests := map[string]struct {
		lane   rollout.StrategyType
		group  rollout.GroupResult
		behind int
		want   bool
	}{
		"a group that has not passed":             {rollout.ProgressivePerGroup, rollout.GroupResult{Open: true, MaxUnavailable: -1}, 0, true},
		"one that passed":                         {rollout.ProgressivePerGroup, rollout.GroupResult{Open: true, Passed: true, MaxUnavailable: -1}, 1, false},
		"one that is closed":                      {rollout.ProgressivePerGroup, rollout.GroupResult{MaxUnavailable: -1}, 1, false},
		"a partition with as many behind as may":  {rollout.PartitionsType, rollout.GroupResult{Open: true, MaxUnavailable: 2}, 2, false},
		"with more":                               {rollout.PartitionsType, rollout.GroupResult{Open: true, MaxUnavailable: 2}, 3, true},
		"with a maximum of 0":                     {rollout.PartitionsType, rollout.GroupResult{Open: true}, 1, true},
		"without a limit all may be":              {rollout.PartitionsType, rollout.GroupResult{Open: true, MaxUnavailable: -1, Counts: rollout.Counts{Total: 3}}, 3, false},
		"a partition whose turn has not come yet": {rollout.PartitionsType, rollout.GroupResult{MaxUnavailable: 2}, 3, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			lane := &rollout.LaneResult{Type: string(tt.lane)}
			if got := waitedFor(lane, &tt.group, tt.behind); got != tt.want {
				t.Errorf("waitedFor = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestTheBundlesOwnLimits(t *testing.T) {
	two, fifth, half := intstr.FromInt32(2), intstr.FromString("20%"), intstr.FromString("50%")
	tests := map[string]struct {
		strategy       *fleet.RolloutStrategy
		lane           rollout.StrategyType
		wantClusters   int
		wantPartitions int
	}{
		"without a strategy all may be unavailable": {nil, rollout.PartitionsType, 4, 0},
		"neither limit is set":                      {&fleet.RolloutStrategy{}, rollout.PartitionsType, 4, 0},
		"numbers":                                   {&fleet.RolloutStrategy{MaxUnavailable: &two, MaxUnavailablePartitions: &two}, rollout.PartitionsType, 2, 2},
		"percentages, rounded down and at least 1":  {&fleet.RolloutStrategy{MaxUnavailable: &half, MaxUnavailablePartitions: &fifth}, rollout.PartitionsType, 2, 1},
		"in a policy's groups there are none":       {&fleet.RolloutStrategy{MaxUnavailable: &two, MaxUnavailablePartitions: &two}, rollout.All, 2, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			plan := planOf(shownOn("a", "dev", rollout.ShownReady), shownOn("b", "dev", rollout.ShownReady),
				shownOn("c", "stg", rollout.ShownReady), shownOn("d", "stg", rollout.ShownReady))
			plan.Lanes[0].Type = string(tt.lane)
			f := factsOf()
			f.bundle.Spec.RolloutStrategy = tt.strategy
			got := bundleStatus(f, &question{matched: true, packed: &packed{}}, plan)
			if got.MaxUnavailable != tt.wantClusters || got.MaxUnavailablePartitions != tt.wantPartitions {
				t.Errorf("%d clusters and %d partitions may be unavailable, want %d and %d",
					got.MaxUnavailable, got.MaxUnavailablePartitions, tt.wantClusters, tt.wantPartitions)
			}
		})
	}
}
