package rollout

import (
	"fmt"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// strategyPath is where a bundle has Fleet's rollout strategy.
var strategyPath = field.NewPath("spec", "rolloutStrategy")

// What a bundle's manual partitions come to at most: every one of them is compared
// with every cluster in every plan, and their names are recorded and shown.
const (
	maxManualPartitions = 1000
	maxPartitionName    = 253
)

// cutsItself tells whether a bundle's own strategy has partitions.
func cutsItself(s *fleet.RolloutStrategy) bool {
	return s != nil && (len(s.Partitions) > 0 || s.AutoPartitionSize != nil || s.AutoPartitionThreshold != nil)
}

// partitionSource makes the one lane of a bundle's partitions, or of Fleet's defaults.
func partitionSource(name string, b *fleet.Bundle) Source {
	s := Source{Name: name}
	partitions, errs := parsePartitions(b.Spec.RolloutStrategy)
	if len(errs) > 0 {
		s.Hold = invalid("Bundle "+b.Name, errs)
		return s
	}
	s.Lanes = []LaneSpec{{Name: DefaultLane, Strategy: Strategy{Type: PartitionsType}, Partitions: partitions}}
	return s
}

// limitGroups makes a bundle's own limits hold inside the groups of another source,
// and says which of its settings do not.
func (s *Source) limitGroups(b *fleet.Bundle) {
	in := b.Spec.RolloutStrategy
	if s.Hold != nil || in == nil {
		return
	}
	if cutsItself(in) || in.MaxUnavailablePartitions != nil {
		s.Warnings = append(s.Warnings, Hold{PartitionsIgnored, fmt.Sprintf(
			"the partitions in the bundle's spec.rolloutStrategy are ignored: %s orders its clusters; only maxUnavailable and maxNew hold, inside each group", s.Name)})
	}
	if in.MaxUnavailable == nil && in.MaxNew == nil {
		return
	}
	limits, errs := parseLimits(in)
	if len(errs) > 0 {
		s.Hold, s.Lanes = invalid("Bundle "+b.Name, errs), nil
		return
	}
	s.Limits = &limits
}

func parseLimits(in *fleet.RolloutStrategy) (Limits, field.ErrorList) {
	errs := checkFleetLimit(in.MaxUnavailable, strategyPath.Child("maxUnavailable"))
	if in.MaxNew != nil && *in.MaxNew < 0 {
		errs = append(errs, field.Invalid(strategyPath.Child("maxNew"), *in.MaxNew, "must not be negative"))
	}
	return Limits{MaxUnavailable: in.MaxUnavailable, MaxNew: in.MaxNew}, errs
}

// parsePartitions validates Fleet's rollout strategy; nil is one of defaults.
func parsePartitions(in *fleet.RolloutStrategy) (*Partitions, field.ErrorList) {
	if in == nil {
		return &Partitions{}, nil
	}
	limits, errs := parseLimits(in)
	errs = append(errs, checkFleetLimit(in.MaxUnavailablePartitions, strategyPath.Child("maxUnavailablePartitions"))...)
	if in.AutoPartitionSize != nil && !noSize(*in.AutoPartitionSize) {
		errs = append(errs, checkFleetLimit(in.AutoPartitionSize, strategyPath.Child("autoPartitionSize"))...)
	}
	manual := strategyPath.Child("partitions")
	if n := len(in.Partitions); n > maxManualPartitions {
		return nil, append(errs, field.TooMany(manual, n, maxManualPartitions))
	}
	out := &Partitions{
		Limits: limits, MaxUnavailablePartitions: in.MaxUnavailablePartitions,
		AutoSize: in.AutoPartitionSize, AutoThreshold: in.AutoPartitionThreshold,
	}
	for i := range in.Partitions {
		part := ManualPartition{Name: in.Partitions[i].Name, MaxUnavailable: in.Partitions[i].MaxUnavailable}
		if part.Name == "" {
			part.Name = fmt.Sprintf("partition %d", i+1)
		}
		if len(part.Name) > maxPartitionName {
			errs = append(errs, field.TooLong(manual.Index(i).Child("name"), "", maxPartitionName))
		}
		errs = append(errs, checkFleetLimit(part.MaxUnavailable, manual.Index(i).Child("maxUnavailable"))...)
		out.Manual = append(out.Manual, part)
	}
	return out, errs
}

func checkFleetLimit(v *intstr.IntOrString, path *field.Path) field.ErrorList {
	if v == nil {
		return nil
	}
	if _, _, err := readLimit(*v); err != nil {
		return field.ErrorList{field.Invalid(path, v.String(), err.Error())}
	}
	return nil
}
