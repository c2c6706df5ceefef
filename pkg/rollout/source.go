package rollout

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// Source is where order and gates come from.
type Source struct {
	// Name is "RolloutPolicy/NAME", "Bundle", "ClusterManagementAddOn/fleet" or "Default".
	Name string
	// Hold is why the source cannot be used; nil if it can.
	Hold *Hold
	// Paused names the policy that is paused ("RolloutPolicy prod"); "" if none is.
	Paused string
	// ImplicitTargets is true when the bundle has no targets of its own and follows
	// what the Placements decide.
	ImplicitTargets bool
	// NoTargets is true when the bundle has no targets of its own and no policy
	// governs it, so that it targets nothing.
	NoTargets bool
	// Lanes side by side; a cluster in several belongs to the last.
	Lanes []LaneSpec
	// Limits are the bundle's own, inside each group of another source; nil for none.
	Limits *Limits
	// Warnings are what people should know about the source.
	Warnings []Hold
}

// Limits are Fleet's limits inside a group.
type Limits struct {
	// MaxUnavailable is a number or a percentage; nil for 100%.
	MaxUnavailable *intstr.IntOrString
	// MaxNew is the size of a batch of first installs; nil for 50.
	MaxNew *int
}

// LaneSpec is one Placement with one strategy, validated.
type LaneSpec struct {
	// Name is unique in the source; it is shown and recorded.
	Name string
	// Placement is "namespace/name"; empty for the default lane, which every
	// selected cluster is in.
	Placement string
	Strategy  Strategy
	// Partitions is set in a lane of Fleet's partitions, which has no Placement and no
	// use for Strategy.
	Partitions *Partitions
}

// Partitions is a validated fleet.RolloutStrategy.
type Partitions struct {
	Limits
	// MaxUnavailablePartitions is a number or a percentage of the partitions; nil for 0.
	MaxUnavailablePartitions *intstr.IntOrString
	// AutoSize is a number or a percentage of the clusters; nil for 25%.
	AutoSize *intstr.IntOrString
	// AutoThreshold is the number of clusters from which on there are automatic
	// partitions; nil for 200.
	AutoThreshold *int
	// Manual partitions in the order written; with any there are no automatic ones.
	Manual []ManualPartition
}

// ManualPartition is one partition; Cluster.Partition says who is in it.
type ManualPartition struct {
	// Name as shown; never empty.
	Name string
	// MaxUnavailable of this partition; nil for the strategy's.
	MaxUnavailable *intstr.IntOrString
}

// StrategyType is OCM's word for a strategy.
type StrategyType string

// The strategies.
const (
	All                 StrategyType = "All"
	Progressive         StrategyType = "Progressive"
	ProgressivePerGroup StrategyType = "ProgressivePerGroup"
	// PartitionsType is shown for a lane of Fleet's partitions.
	PartitionsType StrategyType = "Partitions"
)

// Strategy is a validated OCM rollout strategy.
type Strategy struct {
	Type           StrategyType
	MinSuccessTime time.Duration
	// ProgressDeadline is 0 for None.
	ProgressDeadline time.Duration
	// MaxFailures is a number, or a percentage rounded up.
	MaxFailures intstr.IntOrString
	// Mandatory groups come first and tolerate no failure.
	Mandatory []MandatoryGroup
	// QueueConcurrency is maxConcurrency of Progressive; nil for the Placement's
	// clustersPerDecisionGroup.
	QueueConcurrency *intstr.IntOrString
	// GroupConcurrency is the policy's maxConcurrency for each group, in any type of
	// strategy; nil for no limit.
	GroupConcurrency *intstr.IntOrString
	// Groups are the policy's settings of single groups, by name.
	Groups map[string]GroupTerms
}

// GroupTerms are what a policy says of one group; what is nil is the strategy's.
type GroupTerms struct {
	MinSuccessTime *time.Duration
	// ProgressDeadline is 0 for None.
	ProgressDeadline *time.Duration
	MaxFailures      *intstr.IntOrString
	MaxConcurrency   *intstr.IntOrString
}

// MandatoryGroup names a group, or its index where the name is empty.
type MandatoryGroup struct {
	Name  string
	Index int
}

// SourceInput is what decides the source of a bundle's lanes.
type SourceInput struct {
	Bundle          *fleet.Bundle
	NamespaceLabels map[string]string
	// Policies of the bundle's namespace, in any order.
	Policies []*v1alpha1.RolloutPolicy
	// Unreadable says of policies by name, beside their objects, why they cannot be read.
	Unreadable map[string]string
	// AddOn is the ClusterManagementAddOn `fleet`; nil if it does not exist.
	AddOn *addonv1beta1.ClusterManagementAddOn
	// OwnTargets is true when the bundle itself says where it goes.
	OwnTargets bool
}

// ResolveSource finds where a bundle's lanes come from: a policy, the bundle's own
// partitions, the add-on, or Fleet's defaults.
func ResolveSource(in SourceInput) Source {
	policy, name, hold := findPolicy(in)
	var s Source
	switch {
	case hold != nil:
		s = Source{Name: name, Hold: hold, ImplicitTargets: !in.OwnTargets}
	case policy != nil:
		s = policySource(policy)
		s.ImplicitTargets = !in.OwnTargets
		s.limitGroups(in.Bundle)
	case cutsItself(in.Bundle.Spec.RolloutStrategy):
		s = partitionSource(bundleSource, in.Bundle)
		s.NoTargets = !in.OwnTargets
	default:
		s = addOnSource(in.AddOn, in.Bundle)
		s.NoTargets = !in.OwnTargets
	}
	return s
}

// findPolicy finds the policy that governs the bundle, nil if none does, or says
// why that cannot be told.
func findPolicy(in SourceInput) (*v1alpha1.RolloutPolicy, string, *Hold) {
	if name := in.Bundle.Labels[v1alpha1.LabelRolloutPolicy]; name != "" {
		if why := in.Unreadable[name]; why != "" {
			return nil, policyName(name), unreadable(name, why)
		}
		for _, p := range in.Policies {
			if p.Name == name {
				return p, policyName(p.Name), nil
			}
		}
		return nil, policyName(name), &Hold{PolicyMissing, fmt.Sprintf("RolloutPolicy %s, which the bundle names by label, does not exist", name)}
	}
	if len(in.Unreadable) > 0 {
		// Nobody can tell which bundles it selects.
		name := slices.Min(slices.Collect(maps.Keys(in.Unreadable)))
		return nil, policyName(name), unreadable(name, in.Unreadable[name])
	}
	policies := slices.Clone(in.Policies)
	slices.SortFunc(policies, func(a, b *v1alpha1.RolloutPolicy) int { return cmp.Compare(a.Name, b.Name) })
	var found []*v1alpha1.RolloutPolicy
	for _, p := range policies {
		selected, err := selects(p, in.Bundle.Labels)
		if err != nil {
			return nil, policyName(p.Name), &Hold{StrategyInvalid, err.Error()}
		}
		if selected {
			found = append(found, p)
		}
	}
	switch {
	case len(found) > 1:
		return nil, policyName(found[0].Name), &Hold{PolicyConflict, fmt.Sprintf("%d RolloutPolicies select the bundle, among them %s and %s", len(found), found[0].Name, found[1].Name)}
	case len(found) == 1:
		return found[0], policyName(found[0].Name), nil
	case in.NamespaceLabels[v1alpha1.LabelRolloutPolicy] == v1alpha1.RolloutPolicyRequired:
		return nil, defaultSource, &Hold{PolicyMissing, "the namespace requires a RolloutPolicy and none selects the bundle"}
	}
	return nil, "", nil
}

func unreadable(policy, why string) *Hold {
	return &Hold{StrategyInvalid, short(fmt.Sprintf("RolloutPolicy %s cannot be read: %s", policy, why))}
}

func policyName(name string) string { return "RolloutPolicy/" + name }

// policySource makes one lane of each of a policy's Placements.
func policySource(policy *v1alpha1.RolloutPolicy) Source {
	s := Source{Name: policyName(policy.Name)}
	if policy.Spec.Paused {
		s.Paused = "RolloutPolicy " + policy.Name
	}
	if errs := ValidatePolicy(policy); len(errs) > 0 {
		s.Hold = invalid("RolloutPolicy "+policy.Name, errs)
		return s
	}
	for i := range policy.Spec.PlacementRefs {
		ref := &policy.Spec.PlacementRefs[i]
		strategy, _ := parseRef(ref, nil)
		s.Lanes = append(s.Lanes, LaneSpec{Name: ref.Name, Placement: policy.Namespace + "/" + ref.Name, Strategy: strategy})
	}
	return s
}

// addOnSource makes one lane of each Placement of the add-on if any of them is
// progressive, else the default lane of Fleet's partitions. An add-on that is
// missing, as while it is uninstalled, may have been progressive: what it held back
// must not go everywhere at once.
func addOnSource(addOn *addonv1beta1.ClusterManagementAddOn, bundle *fleet.Bundle) Source {
	if addOn == nil {
		return Source{Name: defaultSource, Hold: &Hold{AddOnNotInstalled,
			"ClusterManagementAddOn " + v1alpha1.AddOnName + " does not exist: nobody can tell in which order clusters follow"}}
	}
	if !progressive(addOn) {
		return partitionSource(defaultSource, bundle)
	}
	s := Source{Name: "ClusterManagementAddOn/" + addOn.Name}
	path := field.NewPath("spec", "installStrategy", "placements")
	seen := map[string]bool{}
	var errs field.ErrorList
	for i := range addOn.Spec.InstallStrategy.Placements {
		ref := &addOn.Spec.InstallStrategy.Placements[i]
		name := ref.Namespace + "/" + ref.Name
		if seen[name] {
			errs = append(errs, field.Duplicate(path.Index(i), name))
		}
		seen[name] = true
		strategy, wrong := parseStrategy(&ref.RolloutStrategy, path.Index(i).Child("rolloutStrategy"))
		errs = append(errs, wrong...)
		s.Lanes = append(s.Lanes, LaneSpec{Name: name, Placement: name, Strategy: strategy})
	}
	if len(errs) > 0 {
		s.Hold, s.Lanes = invalid("ClusterManagementAddOn "+addOn.Name, errs), nil
	}
	s.limitGroups(bundle)
	return s
}

func progressive(addOn *addonv1beta1.ClusterManagementAddOn) bool {
	if addOn.Spec.InstallStrategy.Type != addonv1beta1.AddonInstallStrategyPlacements {
		return false
	}
	return slices.ContainsFunc(addOn.Spec.InstallStrategy.Placements, func(p addonv1beta1.PlacementStrategy) bool {
		t := p.RolloutStrategy.Type
		return t == clusterv1alpha1.Progressive || t == clusterv1alpha1.ProgressivePerGroup
	})
}

// invalid holds a source for what is wrong with its object, naming up to five fields.
func invalid(object string, errs field.ErrorList) *Hold {
	var list []string
	for _, err := range errs[:min(5, len(errs))] {
		list = append(list, err.Error())
	}
	sentence := object + ": " + strings.Join(list, "; ")
	if n := len(errs) - len(list); n > 0 {
		sentence += fmt.Sprintf("; and %d more", n)
	}
	return &Hold{StrategyInvalid, sentence}
}
