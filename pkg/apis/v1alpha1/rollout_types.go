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

// Reasons of confirmations.
const (
	// ConfirmSource: the rollout would come under another policy or strategy object.
	ConfirmSource = "RolloutSourceChanged"
	// ConfirmGroup: a group that had clusters has none any more.
	ConfirmGroup = "GroupVanished"
	// ConfirmRemovals: many clusters would lose the bundle at once.
	ConfirmRemovals = "RemovalGuard"
)

// RolloutSpec is for people; the manager never writes it.
type RolloutSpec struct {
	// paused admits nothing and removes nothing. What is under way goes on, and no
	// deadline runs. Unset means false.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// revision pins the rollout to one of the bundle's revisions, as `fleetctl rollout
	// history` lists them: that one is rolled out, through the same gates, whatever the
	// bundle says meanwhile. Unset: the bundle's own revision.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern="^[a-z0-9]*$"
	// +optional
	Revision string `json:"revision,omitempty"`
	// confirmations of what status.confirmations asks for. One is for one thing and one
	// revision; those of other revisions, and those that nothing asks for any more, do
	// nothing and can be deleted.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Confirmations []Confirmation `json:"confirmations,omitempty"`
}

// Confirmation lets through one thing that a rollout holds until a person has seen it.
//
// +kubebuilder:validation:XValidation:rule="self.reason != 'RemovalGuard' || (has(self.clusters) && size(self.clusters) > 0)",message="RemovalGuard needs the clusters whose removal is confirmed",reason=FieldValueRequired,fieldPath=".clusters"
// +kubebuilder:validation:XValidation:rule="self.reason == 'RemovalGuard' || !has(self.clusters) || size(self.clusters) == 0",message="belongs to RemovalGuard and the reason is another one",reason=FieldValueForbidden,fieldPath=".clusters"
// +kubebuilder:validation:XValidation:rule="self.reason == 'RemovalGuard' || (has(self.subject) && size(self.subject) > 0)",message="the reason needs the subject that status.confirmations shows",reason=FieldValueRequired,fieldPath=".subject"
// +kubebuilder:validation:XValidation:rule="self.reason != 'RemovalGuard' || !has(self.subject) || size(self.subject) == 0",message="RemovalGuard has clusters and no subject",reason=FieldValueForbidden,fieldPath=".subject"
type Confirmation struct {
	// reason is the reason of the request: RolloutSourceChanged, GroupVanished or
	// RemovalGuard.
	// +kubebuilder:validation:Enum=RolloutSourceChanged;GroupVanished;RemovalGuard
	Reason string `json:"reason"`
	// subject is the request's: the new source, or "lane/group". Empty for RemovalGuard.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Subject string `json:"subject,omitempty"`
	// revision that is rolled out while this is confirmed; in another one it does nothing.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Revision string `json:"revision"`
	// clusters whose removal is confirmed, with RemovalGuard only.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MaxLength=253
	// +optional
	Clusters []string `json:"clusters,omitempty"`
}

// ConfirmationRequest is one thing that is held until a person confirms it.
type ConfirmationRequest struct {
	// reason of a closed list: RolloutSourceChanged, GroupVanished or RemovalGuard.
	Reason string `json:"reason"`
	// subject is what is to be confirmed: the new source, or "lane/group". Empty for
	// RemovalGuard.
	// +optional
	Subject string `json:"subject,omitempty"`
	// message says what happens once it is confirmed.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
	// clusters that would be removed, the first 500 in name order, or fewer where the
	// status would be too large; RemovalGuard only.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=500
	// +optional
	Clusters []string `json:"clusters,omitempty"`
	// total is how many clusters would be removed; RemovalGuard only.
	// +optional
	Total int32 `json:"total,omitempty"`
}

// Condition types of a Rollout.
const (
	// RolloutPinned is True while spec.revision names a revision; its message says
	// which one and what the bundle's own is.
	RolloutPinned = "Pinned"
	// RolloutComplete is True when every selected cluster is Done on the revision.
	RolloutComplete = "Complete"
	// RolloutBreached is True while a group has more failures than it tolerates.
	RolloutBreached = "Breached"
	// RolloutHeld is True while the rollout, or one of its lanes, waits for something
	// that is not a gate: a missing Placement, an invalid strategy, a pause, a mandatory
	// group that is missing or a group that vanished.
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
	// bundleRevision is what the bundle itself says; another one than revision only
	// while spec.revision pins the rollout.
	// +optional
	BundleRevision string `json:"bundleRevision,omitempty"`
	// source of the lanes in force: "RolloutPolicy/NAME", "ClusterManagementAddOn/fleet",
	// "Bundle" for a bundle's own partitions, or "Default".
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
	// confirmations are what waits for a person: `fleetctl rollout confirm` shows them.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Confirmations []ConfirmationRequest `json:"confirmations,omitempty"`
	// record is what the manager must remember over restarts.
	// +optional
	Record RolloutRecord `json:"record,omitempty"`
	// conditions are Complete, Breached, Held, Pinned, PlacementConsistent and Warning.
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

// LaneStatus is one Placement with its groups, or the partitions of a bundle.
type LaneStatus struct {
	// name of the Placement; "default" for partitions.
	Name string `json:"name"`
	// type of the strategy: All, Progressive, ProgressivePerGroup or Partitions.
	Type string `json:"type"`
	// reason of a closed list, and the sentence that goes with it, while the whole lane
	// is held.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message is the sentence of the reason.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
	// groups in order; at most 1,000 in all lanes together.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	// +optional
	Groups []GroupStatus `json:"groups,omitempty"`
	// groupsOmitted is how many groups are not listed because the status would be too
	// large.
	// +optional
	GroupsOmitted int32 `json:"groupsOmitted,omitempty"`
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
	// maxFailures in clusters; of the whole lane with Progressive.
	// +optional
	MaxFailures int32 `json:"maxFailures,omitempty"`
	// maxConcurrency in clusters; unset where nothing limits it.
	// +optional
	MaxConcurrency *int32 `json:"maxConcurrency,omitempty"`
	// inFlight is how many clusters are not settled on whatever was admitted to them;
	// told where maxConcurrency is.
	// +optional
	InFlight int32 `json:"inFlight,omitempty"`
	// maxUnavailable in clusters, where Fleet's rolloutStrategy sets a limit.
	// +optional
	MaxUnavailable *int32 `json:"maxUnavailable,omitempty"`
	// unavailable is how many clusters are admitted and not successful; told where
	// maxUnavailable is.
	// +optional
	Unavailable int32 `json:"unavailable,omitempty"`
	// minSuccessTime, in seconds, that a cluster of this group has to be ready.
	// +optional
	MinSuccessSeconds int64 `json:"minSuccessSeconds,omitempty"`
	// progressDeadline, in seconds, after which a cluster of this group counts as
	// failed; unset for none.
	// +optional
	ProgressDeadlineSeconds int64 `json:"progressDeadlineSeconds,omitempty"`
	// counts by state.
	Counts StateCounts `json:"counts"`
	// lateJoiners are members that came after the group was opened: nobody waits for them.
	// +optional
	LateJoiners int32 `json:"lateJoiners,omitempty"`
	// next is how many clusters are admitted now, or would be if nothing was paused.
	// +optional
	Next int32 `json:"next,omitempty"`
	// nextClusters are the first of them, at most 20.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +optional
	NextClusters []string `json:"nextClusters,omitempty"`
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
	// source that the rollout is under; another one has to be confirmed.
	// +optional
	Source string `json:"source,omitempty"`
	// removals of the last hour in buckets of five minutes.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=13
	// +optional
	Removals []RemovalBucket `json:"removals,omitempty"`
	// removing are clusters whose removal is counted already and not seen yet.
	// +listType=atomic
	// +optional
	Removing []string `json:"removing,omitempty"`
	// cuts of automatic partitions, by lane.
	// +listType=map
	// +listMapKey=lane
	// +optional
	Cuts []PartitionCut `json:"cuts,omitempty"`
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

// RemovalBucket counts what happened in five minutes.
type RemovalBucket struct {
	// at is when the five minutes began.
	At metav1.MicroTime `json:"at"`
	// works is the most works that the bundle had in them.
	Works int32 `json:"works"`
	// removed is how many works of clusters that still exist were removed in them.
	// +optional
	Removed int32 `json:"removed,omitempty"`
}

// PartitionCut is how clusters were cut into partitions.
type PartitionCut struct {
	// lane is the name of the partitions' lane.
	Lane string `json:"lane"`
	// clusters that there were.
	Clusters int32 `json:"clusters"`
	// size of each partition but the last; 0 for one partition of all.
	// +optional
	Size int32 `json:"size,omitempty"`
	// counts of manual partitions, in their order.
	// +listType=atomic
	// +optional
	Counts []int32 `json:"counts,omitempty"`
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
