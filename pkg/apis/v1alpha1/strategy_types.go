package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The types of this file have the JSON of OCM's cluster/v1alpha1 RolloutStrategy. OCM's
// own Go types cannot be used: their schema takes any text for a duration and any number
// for a limit, and leaves lists unbounded, so that the API server allows no rule on them.

// StrategyType is OCM's word for a strategy.
//
// +kubebuilder:validation:Enum=All;Progressive;ProgressivePerGroup
type StrategyType string

// The types of strategies.
const (
	// StrategyAll: every group at once.
	StrategyAll StrategyType = "All"
	// StrategyProgressive: cluster by cluster, at most maxConcurrency under way.
	StrategyProgressive StrategyType = "Progressive"
	// StrategyProgressivePerGroup: one decision group after the other.
	StrategyProgressivePerGroup StrategyType = "ProgressivePerGroup"
)

// RolloutStrategy says in which order the clusters of a Placement follow, in the shape
// that OCM's ManifestWorkReplicaSet and ClusterManagementAddOn use.
//
// +kubebuilder:validation:XValidation:rule="self.type == 'All' || !has(self.all)",message="belongs to type All and the type is another one",reason=FieldValueForbidden,fieldPath=".all"
// +kubebuilder:validation:XValidation:rule="self.type == 'Progressive' || !has(self.progressive)",message="belongs to type Progressive and the type is another one",reason=FieldValueForbidden,fieldPath=".progressive"
// +kubebuilder:validation:XValidation:rule="self.type == 'ProgressivePerGroup' || !has(self.progressivePerGroup)",message="belongs to type ProgressivePerGroup and the type is another one",reason=FieldValueForbidden,fieldPath=".progressivePerGroup"
// +kubebuilder:validation:XValidation:rule="self.type != 'Progressive' || has(self.progressive)",message="type Progressive needs it; {} takes every default",reason=FieldValueRequired,fieldPath=".progressive"
// +kubebuilder:validation:XValidation:rule="self.type != 'ProgressivePerGroup' || has(self.progressivePerGroup)",message="type ProgressivePerGroup needs it; {} takes every default",reason=FieldValueRequired,fieldPath=".progressivePerGroup"
type RolloutStrategy struct {
	// type is All, Progressive or ProgressivePerGroup. Unset means All.
	// +kubebuilder:default=All
	// +optional
	Type StrategyType `json:"type,omitempty"`
	// all has the settings of type All. Unset: their defaults.
	// +optional
	All *RolloutAll `json:"all,omitempty"`
	// progressive has the settings of type Progressive, which needs it.
	// +optional
	Progressive *RolloutProgressive `json:"progressive,omitempty"`
	// progressivePerGroup has the settings of type ProgressivePerGroup, which needs it.
	// +optional
	ProgressivePerGroup *RolloutProgressivePerGroup `json:"progressivePerGroup,omitempty"`
}

// RolloutConfig is what every type of strategy has.
type RolloutConfig struct {
	// minSuccessTime is how long a cluster has to be ready without a break before it is
	// done, a Go duration such as 90s, 30m or 1h30m. Unset means 0.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s')",message="must be a duration such as 90s, 30m or 1h30m, and not negative"
	// +optional
	MinSuccessTime *metav1.Duration `json:"minSuccessTime,omitempty"`
	// progressDeadline after which a cluster without success counts as failed, a positive
	// Go duration or None. Unset means None.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self == '' || self == 'None' || duration(self) > duration('0s')",message="must be None or a positive duration such as 90s, 30m or 1h30m"
	// +optional
	ProgressDeadline string `json:"progressDeadline,omitempty"`
	// maxFailures that are tolerated, a number, or a percentage rounded up: of the group,
	// in Progressive of the Placement. Unset means 0.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern="^(100|[0-9]{1,2})%$"
	// +kubebuilder:validation:XValidation:rule="type(self) in [string] || (self >= 0 && self <= 2147483647)",message="must be a number from 0 to 2147483647, or a percentage from 0% to 100%"
	// +optional
	MaxFailures *intstr.IntOrString `json:"maxFailures,omitempty"`
}

// MandatoryDecisionGroup names a decision group of the Placement.
type MandatoryDecisionGroup struct {
	// groupName of the decision group. Unset: groupIndex says which.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	GroupName string `json:"groupName,omitempty"`
	// groupIndex of the decision group, from 0; it counts only without groupName.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	GroupIndex int32 `json:"groupIndex,omitempty"`
}

// RolloutAll has the settings of type All.
type RolloutAll struct {
	RolloutConfig `json:",inline"`
}

// RolloutProgressive has the settings of type Progressive.
type RolloutProgressive struct {
	RolloutConfig `json:",inline"`
	// mandatoryDecisionGroups come first, in index order, and tolerate no failure. Unset
	// means none.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(g, self.exists_one(o, has(g.groupName) && g.groupName != '' ? has(o.groupName) && o.groupName == g.groupName : (!has(o.groupName) || o.groupName == '') && (has(o.groupIndex) ? o.groupIndex : 0) == (has(g.groupIndex) ? g.groupIndex : 0)))",message="must not name a group twice"
	// +optional
	MandatoryDecisionGroups []MandatoryDecisionGroup `json:"mandatoryDecisionGroups,omitempty"`
	// maxConcurrency is how many clusters may be under way at once, a number, or a
	// percentage of the Placement's clusters rounded up. Unset: the Placement's
	// clustersPerDecisionGroup.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern="^(100|[1-9][0-9]?|0[1-9])%$"
	// +kubebuilder:validation:XValidation:rule="type(self) in [string] || (self >= 1 && self <= 2147483647)",message="must be a number from 1 to 2147483647, or a percentage from 1% to 100%"
	// +optional
	MaxConcurrency *intstr.IntOrString `json:"maxConcurrency,omitempty"`
}

// RolloutProgressivePerGroup has the settings of type ProgressivePerGroup.
type RolloutProgressivePerGroup struct {
	RolloutConfig `json:",inline"`
	// mandatoryDecisionGroups come first, in index order, and tolerate no failure. Unset
	// means none.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(g, self.exists_one(o, has(g.groupName) && g.groupName != '' ? has(o.groupName) && o.groupName == g.groupName : (!has(o.groupName) || o.groupName == '') && (has(o.groupIndex) ? o.groupIndex : 0) == (has(g.groupIndex) ? g.groupIndex : 0)))",message="must not name a group twice"
	// +optional
	MandatoryDecisionGroups []MandatoryDecisionGroup `json:"mandatoryDecisionGroups,omitempty"`
}
