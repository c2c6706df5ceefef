package rollout

import (
	"strings"
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

func bundleWith(s *fleet.RolloutStrategy) *fleet.Bundle {
	b := &fleet.Bundle{}
	b.Namespace, b.Name, b.Spec.RolloutStrategy = "app", "web", s
	return b
}

func part(name, maxUnavailable string) fleet.Partition {
	return fleet.Partition{Name: name, MaxUnavailable: amount(maxUnavailable)}
}

func TestPartitionSources(t *testing.T) {
	policies := []*v1alpha1.RolloutPolicy{selecting(policyOf("p", v1alpha1.PlacementRef{Name: "a"}), "", "")}
	zero, minus := 0, -1
	tests := map[string]struct {
		strategy    *fleet.RolloutStrategy
		policies    []*v1alpha1.RolloutPolicy
		noAddOn     bool
		progressive bool
		want        string
		lanes       int
		limits      string
		hold        string
		warning     Reason
	}{
		"nothing written is Fleet's defaults":                      {want: "Default", lanes: 1},
		"only limits are Fleet's defaults with them":               {strategy: &fleet.RolloutStrategy{MaxUnavailable: amount("10%")}, want: "Default", lanes: 1},
		"partitions are the bundle's own":                          {strategy: &fleet.RolloutStrategy{Partitions: []fleet.Partition{part("a", "")}}, want: "Bundle", lanes: 1},
		"a size is the bundle's own":                               {strategy: &fleet.RolloutStrategy{AutoPartitionSize: amount("5")}, want: "Bundle", lanes: 1},
		"a threshold is the bundle's own":                          {strategy: &fleet.RolloutStrategy{AutoPartitionThreshold: &zero}, want: "Bundle", lanes: 1},
		"without the add-on a bundle without partitions waits":     {strategy: &fleet.RolloutStrategy{MaxNew: &zero}, noAddOn: true, want: "Default", hold: "ClusterManagementAddOn fleet does not exist"},
		"without the add-on one with partitions does not":          {strategy: &fleet.RolloutStrategy{AutoPartitionSize: amount("5")}, noAddOn: true, want: "Bundle", lanes: 1},
		"partitions win over a progressive add-on":                 {strategy: &fleet.RolloutStrategy{AutoPartitionSize: amount("5")}, progressive: true, want: "Bundle", lanes: 1},
		"a progressive add-on takes the limits":                    {strategy: &fleet.RolloutStrategy{MaxUnavailable: amount("10%")}, progressive: true, want: "ClusterManagementAddOn/fleet", lanes: 1, limits: "10% nil"},
		"a policy takes the limits and no partitions":              {strategy: &fleet.RolloutStrategy{MaxNew: &zero, Partitions: []fleet.Partition{part("a", "-3")}}, policies: policies, want: "RolloutPolicy/p", lanes: 1, limits: "nil 0", warning: PartitionsIgnored},
		"a policy ignores a size":                                  {strategy: &fleet.RolloutStrategy{AutoPartitionSize: amount("5")}, policies: policies, want: "RolloutPolicy/p", lanes: 1, warning: PartitionsIgnored},
		"a policy with nothing to limit":                           {strategy: &fleet.RolloutStrategy{}, policies: policies, want: "RolloutPolicy/p", lanes: 1},
		"a policy with limits that are none":                       {strategy: &fleet.RolloutStrategy{MaxUnavailable: text("some")}, policies: policies, want: "RolloutPolicy/p", hold: "spec.rolloutStrategy.maxUnavailable"},
		"a number or a percentage, please":                         {strategy: &fleet.RolloutStrategy{MaxUnavailable: text("some")}, want: "Default", hold: `Bundle web: spec.rolloutStrategy.maxUnavailable: Invalid value: "some": must be a number such as 5, or a percentage such as 10%`},
		"a negative maxNew":                                        {strategy: &fleet.RolloutStrategy{MaxNew: &minus}, want: "Default", hold: "spec.rolloutStrategy.maxNew: Invalid value: -1: must not be negative"},
		"a negative limit of a partition":                          {strategy: &fleet.RolloutStrategy{Partitions: []fleet.Partition{part("a", ""), part("b", "-5%")}}, want: "Bundle", hold: `spec.rolloutStrategy.partitions[1].maxUnavailable: Invalid value: "-5%": must not be negative`},
		"more partitions than anybody writes":                      {strategy: &fleet.RolloutStrategy{Partitions: make([]fleet.Partition, 1001)}, want: "Bundle", hold: "Bundle web: spec.rolloutStrategy.partitions: Too many: 1001: must have at most 1000 items"},
		"as many partitions as there may be":                       {strategy: &fleet.RolloutStrategy{Partitions: make([]fleet.Partition, 1000)}, want: "Bundle", lanes: 1},
		"a partition with a novel for a name":                      {strategy: &fleet.RolloutStrategy{Partitions: []fleet.Partition{part("a", ""), part(strings.Repeat("x", 254), "")}}, want: "Bundle", hold: "spec.rolloutStrategy.partitions[1].name: Too long: may not be more than 253 bytes"},
		"a limit of partitions":                                    {strategy: &fleet.RolloutStrategy{MaxUnavailablePartitions: text("x")}, want: "Default", hold: "spec.rolloutStrategy.maxUnavailablePartitions"},
		"a size that is none":                                      {strategy: &fleet.RolloutStrategy{AutoPartitionSize: text("x")}, want: "Bundle", hold: "spec.rolloutStrategy.autoPartitionSize"},
		"a negative size is one partition, as in Fleet":            {strategy: &fleet.RolloutStrategy{AutoPartitionSize: amount("-5")}, want: "Bundle", lanes: 1},
		"a negative threshold is one partition, as in Fleet":       {strategy: &fleet.RolloutStrategy{AutoPartitionThreshold: &minus}, want: "Bundle", lanes: 1},
		"a threshold beside a policy is none of the policy's work": {strategy: &fleet.RolloutStrategy{AutoPartitionThreshold: &minus}, policies: policies, want: "RolloutPolicy/p", lanes: 1, warning: PartitionsIgnored},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := SourceInput{Bundle: bundleWith(tt.strategy), Policies: tt.policies, AddOn: addOnWith(), OwnTargets: true}
			if tt.progressive {
				in.AddOn = addOnWith(ocmPerGroup())
			}
			if tt.noAddOn {
				in.AddOn = nil
			}
			s := ResolveSource(in)
			hold := Hold{}
			if s.Hold != nil {
				hold = *s.Hold
			}
			if s.Name != tt.want || len(s.Lanes) != tt.lanes || (hold.Reason != "") != (tt.hold != "") || !strings.Contains(hold.Sentence, tt.hold) {
				t.Errorf("%s, %d lanes, %v; want %s, %d, %q", s.Name, len(s.Lanes), hold, tt.want, tt.lanes, tt.hold)
			}
			if got := shownLimits(s.Limits); got != tt.limits {
				t.Errorf("limits %q, want %q", got, tt.limits)
			}
			if got := len(s.Warnings); got > 1 || (got == 1) != (tt.warning != "") || (got == 1 && s.Warnings[0].Reason != tt.warning) {
				t.Errorf("warnings %v, want %q", s.Warnings, tt.warning)
			}
		})
	}
}

func shownLimits(l *Limits) string {
	if l == nil {
		return ""
	}
	out := []string{"nil", "nil"}
	if l.MaxUnavailable != nil {
		out[0] = l.MaxUnavailable.String()
	}
	if l.MaxNew != nil {
		out[1] = string(rune('0' + *l.MaxNew))
	}
	return strings.Join(out, " ")
}

func TestPartitionNames(t *testing.T) {
	s := ResolveSource(SourceInput{Bundle: bundleWith(&fleet.RolloutStrategy{Partitions: []fleet.Partition{part("a", ""), part("", "10%"), part("a", "")}})})
	var names []string
	for _, key := range s.Lanes[0].Partitions.keys(PartitionCut{}) {
		names = append(names, key.Label())
	}
	if got := strings.Join(names, ", "); got != "a, partition 2, a[1]" {
		t.Errorf("partitions %s", got)
	}
	if s.Lanes[0].Strategy.Type != PartitionsType || s.Lanes[0].Name != DefaultLane || s.Lanes[0].Placement != "" {
		t.Errorf("lane %+v", s.Lanes[0])
	}
}
