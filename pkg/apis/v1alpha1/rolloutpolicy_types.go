package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// RolloutPolicy says in which order and behind which gates the bundles of its
// namespace reach the clusters: one lane for each Placement.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=rolloutpolicies,shortName=rp,categories=fleet
// +kubebuilder:printcolumn:name="Paused",type=boolean,JSONPath=`.spec.paused`
// +kubebuilder:printcolumn:name="Accepted",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].status`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type RolloutPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RolloutPolicySpec   `json:"spec"`
	Status RolloutPolicyStatus `json:"status,omitempty"`
}

// RolloutPolicySpec is what people decide.
type RolloutPolicySpec struct {
	// bundleSelector selects bundles of this namespace by label. A bundle can also
	// name its policy with the label fleet.open-cluster-management.io/rollout-policy.
	// Unset selects none, an empty one selects all. Two policies that select the
	// same bundle hold it.
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))",message="operator must be In or NotIn with values, or Exists or DoesNotExist without"
	// +optional
	BundleSelector *metav1.LabelSelector `json:"bundleSelector,omitempty"`
	// paused holds every bundle of this policy: nothing is admitted and nothing is
	// removed. Unset means false.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// placementRefs are the lanes, side by side; a cluster that several decide
	// belongs to the last one.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	PlacementRefs []PlacementRef `json:"placementRefs"`
}

// PlacementRef is one lane: a Placement of this namespace and a strategy.
type PlacementRef struct {
	// name of the Placement.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// rolloutStrategy has the shape that OCM's ManifestWorkReplicaSet and
	// ClusterManagementAddOn use. Unset means All.
	// +optional
	// +kubebuilder:default={type: All}
	RolloutStrategy RolloutStrategy `json:"rolloutStrategy,omitempty"`
	// maxConcurrency is how many clusters of a group may be under way at once, a
	// number, or a percentage of the group rounded up. Unset means all.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern="^(100|[1-9][0-9]?|0[1-9])%$"
	// +kubebuilder:validation:XValidation:rule="type(self) in [string] || (self >= 1 && self <= 2147483647)",message="must be a number from 1 to 2147483647, or a percentage from 1% to 100%"
	// +optional
	MaxConcurrency *intstr.IntOrString `json:"maxConcurrency,omitempty"`
	// groups override the strategy for decision groups by name.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=1000
	// +optional
	Groups []GroupSettings `json:"groups,omitempty"`
}

// GroupSettings override the lane's strategy for one decision group.
type GroupSettings struct {
	// name of the decision group.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// minSuccessTime that a cluster of this group has to be ready. Unset: the strategy's.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s')",message="must be a duration such as 90s, 30m or 1h30m, and not negative"
	// +optional
	MinSuccessTime *metav1.Duration `json:"minSuccessTime,omitempty"`
	// progressDeadline after which a cluster of this group counts as failed, a Go
	// duration or None. Unset: the strategy's.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self == '' || self == 'None' || duration(self) > duration('0s')",message="must be None or a positive duration such as 90s, 30m or 1h30m"
	// +optional
	ProgressDeadline *string `json:"progressDeadline,omitempty"`
	// maxFailures that this group tolerates, a number or a percentage of the group
	// rounded up. Unset: the strategy's.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern="^(100|[0-9]{1,2})%$"
	// +kubebuilder:validation:XValidation:rule="type(self) in [string] || (self >= 0 && self <= 2147483647)",message="must be a number from 0 to 2147483647, or a percentage from 0% to 100%"
	// +optional
	MaxFailures *intstr.IntOrString `json:"maxFailures,omitempty"`
	// maxConcurrency within this group. Unset: the placementRef's.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern="^(100|[1-9][0-9]?|0[1-9])%$"
	// +kubebuilder:validation:XValidation:rule="type(self) in [string] || (self >= 1 && self <= 2147483647)",message="must be a number from 1 to 2147483647, or a percentage from 1% to 100%"
	// +optional
	MaxConcurrency *intstr.IntOrString `json:"maxConcurrency,omitempty"`
}

// Condition types of a RolloutPolicy.
const (
	// RolloutPolicyAccepted is True when every lane of the policy can be used.
	RolloutPolicyAccepted = "Accepted"
	// RolloutPolicyExclusive is False while a bundle that the policy selects is selected
	// by another one too, which holds the bundle.
	RolloutPolicyExclusive = "Exclusive"
)

// RolloutPolicyStatus says whether the policy can be used.
type RolloutPolicyStatus struct {
	// observedGeneration is the generation that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// bundles that the policy governs, the first 100 in name order.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +optional
	Bundles []string `json:"bundles,omitempty"`
	// bundleCount is how many bundles the policy governs.
	// +optional
	BundleCount int32 `json:"bundleCount,omitempty"`
	// conditions are Accepted and Exclusive.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// RolloutPolicyList is a list of RolloutPolicies.
//
// +kubebuilder:object:root=true
type RolloutPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []RolloutPolicy `json:"items"`
}
