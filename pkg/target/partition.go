package target

import (
	"fmt"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func partitionTerms(p *fleet.Partition) terms {
	return terms{p.ClusterName, p.ClusterSelector, p.ClusterGroup, p.ClusterGroupSelector}
}

// Partitions returns for each cluster the number, from 1, of the first manual partition
// of the bundle that matches it; clusters that none matches are left out. groups are the
// ClusterGroups that the bundle can name. An invalid selector, of a partition or of a
// group that it refers to, is an error that names it.
func Partitions(b *fleet.Bundle, groups []Group, clusters []Cluster) (map[string]int, error) {
	if b.Spec.RolloutStrategy == nil {
		return nil, nil
	}
	known, at := newGroups(groups), partitionsPath()
	var partitions []criteria
	for i := range b.Spec.RolloutStrategy.Partitions {
		c, err := known.compile(partitionTerms(&b.Spec.RolloutStrategy.Partitions[i]), at.Index(i))
		if err != nil {
			return nil, fmt.Errorf("bundle %s/%s: %w", b.Namespace, b.Name, err)
		}
		partitions = append(partitions, c)
	}
	out := make(map[string]int, len(clusters))
	for i := range clusters {
		for number := range partitions {
			if partitions[number].match(&clusters[i]) {
				out[clusters[i].Name] = number + 1
				break
			}
		}
	}
	return out, nil
}

// ValidatePartitions returns what is wrong with the selectors of the bundle's manual
// partitions.
func ValidatePartitions(b *fleet.Bundle) field.ErrorList {
	if b.Spec.RolloutStrategy == nil {
		return nil
	}
	var errs field.ErrorList
	for i := range b.Spec.RolloutStrategy.Partitions {
		errs = append(errs, validateTerms(partitionTerms(&b.Spec.RolloutStrategy.Partitions[i]), partitionsPath().Index(i))...)
	}
	return errs
}

func partitionsPath() *field.Path { return field.NewPath("spec", "rolloutStrategy", "partitions") }
