package simulate

import (
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/target"
)

// partition finds each cluster's manual partition: partitions name clusters as
// targets do, and the first that matches counts.
func (s *sim) partition(clusters []target.Cluster) error {
	for _, n := range s.nodes {
		n.row.Partition = 0
	}
	strategy := s.object.Spec.RolloutStrategy
	if strategy == nil || len(strategy.Partitions) == 0 {
		return nil
	}
	b := &fleet.Bundle{ObjectMeta: s.object.ObjectMeta}
	for _, p := range strategy.Partitions {
		b.Spec.Targets = append(b.Spec.Targets, fleet.BundleTarget{
			ClusterName: p.ClusterName, ClusterSelector: p.ClusterSelector, ClusterGroup: p.ClusterGroup, ClusterGroupSelector: p.ClusterGroupSelector,
		})
	}
	matches, err := target.Select(b, s.groups, clusters)
	for _, m := range matches {
		s.byName[m.Cluster].row.Partition = m.Rule + 1
	}
	return err
}
