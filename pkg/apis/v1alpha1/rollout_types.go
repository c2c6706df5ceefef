package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Rollout shows where the rollout of one Bundle stands and why it is not
// further. It has the Bundle's name and namespace and goes with it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=rollouts,shortName=ro,categories=fleet
// +kubebuilder:printcolumn:name="Revision",type=string,JSONPath=`.status.revision`
// +kubebuilder:printcolumn:name="Group",type=string,JSONPath=`.status.currentGroup`
// +kubebuilder:printcolumn:name="Done",type=string,JSONPath=`.status.done`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.reason`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.status.revisionSince`
type Rollout struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RolloutSpec   `json:"spec,omitempty"`
	Status RolloutStatus `json:"status,omitempty"`
}

// RolloutSpec is for people; the manager never writes it.
type RolloutSpec struct {
	// paused admits nothing and removes nothing. What is under way goes on, and no
	// deadline runs. Unset means false.
	// +optional
	Paused bool `json:"paused,omitempty"`
}

// Condition types of a Rollout.
const (
	// RolloutComplete is True when every selected cluster is Done on the revision.
	RolloutComplete = "Complete"
	// RolloutBreached is True while a group has more failures than it tolerates.
	RolloutBreached = "Breached"
	// RolloutHeld is True while the whole rollout waits for something that is not
	// a gate: a missing Placement, an invalid strategy, a pause.
	RolloutHeld = "Held"
	// RolloutPlacementConsistent is False when the decisions of a Placement did not
	// fit its status for longer than 30 s.
	RolloutPlacementConsistent = "PlacementConsistent"
	// RolloutWarning is True while something harmless but probably unintended was
	// seen, such as a declared decision group without clusters.
	RolloutWarning = "Warning"
)

// RolloutStatus is written by the manager. It is also its memory: openedAt and
// the record of groups have no other home.
type RolloutStatus struct {
	// observedGeneration is the generation that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// revision of the bundle that is rolled out: a short hash of its content,
	// options and targets.
	// +optional
	Revision string `json:"revision,omitempty"`
	// revisionSince is when the manager first saw the revision.
	// +optional
	RevisionSince *metav1.Time `json:"revisionSince,omitempty"`
	// source of the lanes in force: "RolloutPolicy/NAME", "ClusterManagementAddOn/fleet"
	// or "Default".
	// +optional
	Source string `json:"source,omitempty"`
	// currentGroup is "lane/group" of the first group that has not passed; empty when
	// all have. "group[1]" is the second group of its name.
	// +optional
	CurrentGroup string `json:"currentGroup,omitempty"`
	// done is "DONE/TOTAL" of the selected clusters.
	// +optional
	Done string `json:"done,omitempty"`
	// reason is one word of a closed list: why the rollout is not further, or Complete.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message is the sentence of the reason; it names the group, up to five
	// clusters and the time that are waited for.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
	// counts of the selected clusters by state; they add up to total.
	// +optional
	Counts StateCounts `json:"counts,omitempty"`
	// lanes in the order of their source.
	// +listType=map
	// +listMapKey=name
	// +optional
	Lanes []LaneStatus `json:"lanes,omitempty"`
	// record is what the manager must remember over restarts.
	// +optional
	Record RolloutRecord `json:"record,omitempty"`
	// conditions are Complete, Breached, Held, PlacementConsistent and Warning.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// StateCounts counts clusters by the state that the planner gives them.
type StateCounts struct {
	// total is the sum of the others.
	Total int32 `json:"total"`
	// pending: the desired id is not admitted.
	// +optional
	Pending int32 `json:"pending,omitempty"`
	// progressing: admitted and not yet successful.
	// +optional
	Progressing int32 `json:"progressing,omitempty"`
	// soaking: successful, minSuccessTime not over.
	// +optional
	Soaking int32 `json:"soaking,omitempty"`
	// done: successful and soaked.
	// +optional
	Done int32 `json:"done,omitempty"`
	// failed: a terminal error.
	// +optional
	Failed int32 `json:"failed,omitempty"`
	// timedOut: not successful within the deadline.
	// +optional
	TimedOut int32 `json:"timedOut,omitempty"`
	// recovering: failed before and successful again, not yet soaked.
	// +optional
	Recovering int32 `json:"recovering,omitempty"`
}

// LaneStatus is one Placement with its groups.
type LaneStatus struct {
	// name of the Placement.
	Name string `json:"name"`
	// type of the strategy: All or ProgressivePerGroup.
	Type string `json:"type"`
	// groups in order; at most 1,000.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	// +optional
	Groups []GroupStatus `json:"groups,omitempty"`
}

// GroupStatus is one decision group.
type GroupStatus struct {
	// name of the decision group; "(unmatched)" for the clusters of no declared group.
	Name string `json:"name"`
	// index is the place among the groups of the same name, from 0.
	// +optional
	Index int32 `json:"index,omitempty"`
	// open is true while clusters of this group may be admitted.
	// +optional
	Open bool `json:"open,omitempty"`
	// passed is true while every cluster that is waited for is settled and failures
	// are within maxFailures.
	// +optional
	Passed bool `json:"passed,omitempty"`
	// breached is true while there are more failures than maxFailures.
	// +optional
	Breached bool `json:"breached,omitempty"`
	// maxFailures in clusters.
	// +optional
	MaxFailures int32 `json:"maxFailures,omitempty"`
	// counts by state.
	Counts StateCounts `json:"counts"`
	// openedAt is when this revision was first allowed in.
	// +optional
	OpenedAt *metav1.Time `json:"openedAt,omitempty"`
	// nextAt is the earliest time at which time alone changes something here: the
	// end of a soak or of a deadline.
	// +optional
	NextAt *metav1.Time `json:"nextAt,omitempty"`
	// reason is one word of a closed list: why this group has not passed, or Complete.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message is the sentence of the reason.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
	// clusters that hold the group back, at most 20.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +optional
	Clusters []HeldCluster `json:"clusters,omitempty"`
}

// HeldCluster is a cluster that a group waits for.
type HeldCluster struct {
	// name of the ManagedCluster.
	Name string `json:"name"`
	// state that the planner gives it.
	State string `json:"state"`
	// reason of a closed list.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message says what is waited for.
	// +optional
	Message string `json:"message,omitempty"`
}

// RolloutRecord is the memory of a rollout.
type RolloutRecord struct {
	// groups that ever had members, with the time they were opened in this revision.
	// +listType=atomic
	// +optional
	Groups []RecordedGroup `json:"groups,omitempty"`
	// pauseSeenAt is when the present pause was first seen; unset when not paused.
	// +optional
	PauseSeenAt *metav1.MicroTime `json:"pauseSeenAt,omitempty"`
	// resumedAt is when the last pause was seen to end. Deadlines start there anew.
	// +optional
	ResumedAt *metav1.MicroTime `json:"resumedAt,omitempty"`
	// completedRevision is the last revision for which all groups of all lanes
	// passed in one plan with at least one cluster Done on it.
	// +optional
	CompletedRevision string `json:"completedRevision,omitempty"`
}

// RecordedGroup is a group name that had members.
type RecordedGroup struct {
	// lane is the name of the group's lane.
	Lane string `json:"lane"`
	// name of the decision group; empty for the clusters of no declared group.
	Name string `json:"name"`
	// index is the place among the groups of the same name, from 0.
	// +optional
	Index int32 `json:"index,omitempty"`
	// openedAt in the current revision; written before the first admission it allows.
	// +optional
	OpenedAt *metav1.MicroTime `json:"openedAt,omitempty"`
}

// RolloutList is a list of Rollouts.
//
// +kubebuilder:object:root=true
type RolloutList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Rollout `json:"items"`
}
