package rollout

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// snapshot builds a lane's Placement and decisions as the placement controller
// would, and reads them.
func (s *sim) snapshot(lane string) Snapshot {
	if s.gone {
		return NewSnapshot(nil, nil)
	}
	groups := map[string][]string{}
	for _, name := range s.names() {
		c := s.clusters[name]
		g, ok := c.groups[lane]
		if !ok || !c.Exists || s.hidden[name] {
			continue
		}
		groups[g] = append(groups[g], name)
	}
	order := slices.Clone(s.declared[lane])
	for _, g := range sortedKeys(groups) {
		if !slices.Contains(order, g) {
			order = append(order, g)
		}
	}
	p := &clusterv1beta1.Placement{}
	for _, g := range s.declared[lane] {
		p.Spec.DecisionStrategy.GroupStrategy.DecisionGroups = append(p.Spec.DecisionStrategy.GroupStrategy.DecisionGroups, clusterv1beta1.DecisionGroup{GroupName: g})
	}
	p.Status.Conditions = []metav1.Condition{{Type: "PlacementSatisfied"}}
	var decisions []*clusterv1beta1.PlacementDecision
	index := 0
	for _, g := range order {
		if len(groups[g]) == 0 {
			continue
		}
		d := decision(fmt.Sprintf("%s-decision-%d", lane, index+1), index, g, groups[g]...)
		status := clusterv1beta1.DecisionGroupStatus{
			DecisionGroupIndex: int32(index), DecisionGroupName: g, Decisions: []string{d.Name}, ClustersCount: int32(len(groups[g])),
		}
		if s.inconsistent && index == 0 {
			status.ClustersCount++
		}
		p.Status.DecisionGroups = append(p.Status.DecisionGroups, status)
		decisions = append(decisions, d)
		index++
	}
	if s.shuffle != nil {
		s.shuffle.Shuffle(len(decisions), func(i, j int) { decisions[i], decisions[j] = decisions[j], decisions[i] })
		for _, d := range decisions {
			l := d.Status.Decisions
			s.shuffle.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
		}
	}
	return NewSnapshot(p, decisions)
}

func decision(name string, index int, group string, clusters ...string) *clusterv1beta1.PlacementDecision {
	d := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		clusterv1beta1.DecisionGroupIndexLabel: fmt.Sprint(index), clusterv1beta1.DecisionGroupNameLabel: group,
	}}}
	for _, c := range clusters {
		d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: c})
	}
	return d
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
