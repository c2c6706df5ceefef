package rollout

import "time"

// Input is everything that a plan depends on.
type Input struct {
	// Bundle is "namespace/name", for sentences.
	Bundle string
	// Revision that is rolled out: the bundle's own, or the one that Pinned names.
	Revision string
	// Pinned is true while the Rollout's spec pins Revision.
	Pinned bool
	// Source of the lanes as ResolveSource found it.
	Source Source
	// Blocks are things that could not be read or are invalid and hold the whole
	// rollout, the most important first. The source's own hold stands in Source.
	Blocks []Hold
	// Pauses say who paused, as subjects of a sentence ("the Rollout", "RolloutPolicy prod").
	Pauses []string
	// Views are what is known of the lanes' Placements, by LaneSpec.Placement.
	Views map[string]*View
	// Clusters in scope, and every cluster that has a work of the bundle.
	Clusters []Cluster
	// Confirmations are what people confirmed in the Rollout's spec, in any order.
	Confirmations []Confirmation
	// Record is the memory in Rollout.status.
	Record Record
	// Absent is Result.Absent of the bundle's previous plan; nil after a restart.
	Absent map[string]time.Time
	// RemovalGrace as in the manager's flag. The settle time is Observe's.
	RemovalGrace time.Duration
}

// Confirmation lets through one thing that is held until a person has seen it. It
// counts for its revision only.
type Confirmation struct {
	// Reason is RolloutSourceChanged, GroupVanished or RemovalGuard.
	Reason Reason
	// Subject is the new source, or "lane/group".
	Subject  string
	Revision string
	// Clusters whose removal is confirmed.
	Clusters []string
}

// Cluster is one ManagedCluster, and what this bundle wants and has there.
type Cluster struct {
	Name string
	// Created is the creation time of the ManagedCluster.
	Created time.Time
	// Exists is false when the ManagedCluster is gone or being deleted.
	Exists bool
	// Available is true while the ManagedCluster's condition Available is True;
	// AvailableSince is its transition time, compared for equality only.
	Available      bool
	AvailableSince string
	// Unreachable is true while it has the unreachable or the unavailable taint.
	Unreachable bool
	// AddOn is the state of its ManagedClusterAddOn.
	AddOn AddOnState
	// Selected is true when a target of the bundle selects the cluster and the
	// namespace may use it. With Source.ImplicitTargets it only says the latter.
	Selected bool
	// DesiredID is the deployment id that the bundle renders to on this cluster.
	DesiredID string
	// DesiredShape is the hash of all that a work for DesiredID holds but the
	// admission: an equal id with another shape is a refresh.
	DesiredShape string
	// RenderError says why DesiredID could not be computed.
	RenderError string
	// RenderWaits says why it cannot be computed yet: the cluster waits and has not failed.
	RenderWaits string
	// CompletedID is the deployment id that Record.CompletedRevision renders to on a
	// cluster without a work; "" where that revision does not select the cluster, or
	// nobody can tell. A newcomer to a closed group runs it meanwhile.
	CompletedID string
	// Partition is the number, from 1, of the first manual partition that matches the
	// cluster; 0 for none. It counts in lanes with manual partitions only.
	Partition int
	// Lease is the resourceVersion of the cluster's managed-cluster-lease, read
	// live because the last plan asked for it (Result.ReadLeases); "" if not read.
	Lease string
	// Unwritten says why the cluster's work could not be written when a plan wanted it
	// last; "" if it could. It changes nothing but what people are told.
	Unwritten string
	// Work is the bundle's ManifestWork on the cluster; nil if there is none.
	Work *Work
}

// AddOnState is the state of a ManagedClusterAddOn.
type AddOnState string

// The states of an add-on on a cluster.
const (
	AddOnMissing  AddOnState = "Missing"
	AddOnPresent  AddOnState = "Present"
	AddOnDeleting AddOnState = "Deleting"
)

// Work is what a ManifestWork says.
type Work struct {
	ID        string
	Revision  string
	Admission string
	Place     Place
	// MinSuccessTime that the work carries to the agent.
	MinSuccessTime time.Duration
	// Shape of the work as written.
	Shape string
	// Deleting is true once it has a deletion timestamp.
	Deleting bool
	// Refused is the message of the work agent when it could not apply the work.
	Refused string
	Stamps  Stamps
	Verdict Verdict
}

// Place is a lane and a group: where a cluster stands.
type Place struct {
	Lane string
	GroupKey
}

// GroupKey is a group's name and its place among the groups of that name, from 0.
type GroupKey struct {
	Name  string
	Index int
}

// Verdict is the agent's status as it came back through the work; the zero value
// means that nothing came back yet. It counts only while Admission is the work's.
type Verdict struct {
	Admission  string
	Applied    bool
	Ready      bool
	ReadySince string
	// Soaked is the minSuccessTime that was over, 0 while none; SoakedKnown tells a
	// reported 0s from nothing.
	Soaked      time.Duration
	SoakedKnown bool
	Terminal    bool
	Waiting     bool
	State       string
	Message     string
}

// Stamps are what the hub remembers of one admission, on its own clock, as one
// annotation on the ManifestWork. Zero times are left out.
type Stamps struct {
	AdmittedAt  time.Time `json:"admittedAt,omitzero"`
	ReadySeenAt time.Time `json:"readySeenAt,omitzero"`
	// ReadyFor is the triple that ReadySeenAt stands for.
	ReadyFor string `json:"readyFor,omitempty"`
	// SoakedSeenAt is when the agent's soaked for ReadyFor was first seen.
	SoakedSeenAt time.Time `json:"soakedSeenAt,omitzero"`
	// Lease is the version of the cluster's lease that has to change before Done.
	Lease       string    `json:"lease,omitempty"`
	LostSeenAt  time.Time `json:"lostSeenAt,omitzero"`
	WaitSeenAt  time.Time `json:"waitSeenAt,omitzero"`
	Waiting     bool      `json:"waiting,omitempty"`
	FailedAt    time.Time `json:"failedAt,omitzero"`
	DoneAt      time.Time `json:"doneAt,omitzero"`
	MemberSince time.Time `json:"memberSince,omitzero"`
}

// Record is what a rollout remembers over restarts, in Rollout.status.record.
type Record struct {
	// Revision that OpenedAt stands for; another one clears them.
	Revision string
	// RevisionSince is when Revision was first seen.
	RevisionSince time.Time
	Groups        []RecordedGroup
	PauseSeenAt   time.Time
	ResumedAt     time.Time
	// CompletedRevision is the last revision with which every group passed.
	CompletedRevision string
	// Source is the Name of the source that the rollout is under.
	Source string
	// Removals of the last hour, in buckets of five minutes, the oldest first.
	Removals []RemovalBucket
	// Removing are clusters whose removal is counted in Removals already and whose
	// work was still there, in name order.
	Removing []string
	// Cuts of partitions, by lane.
	Cuts []PartitionCut
}

// RemovalBucket counts what happened in the five minutes from At.
type RemovalBucket struct {
	At time.Time
	// Works is the most works that the bundle had, Removed how many of clusters that
	// still existed were removed.
	Works, Removed int
}

// PartitionCut is how a lane's clusters were cut into partitions in this revision.
type PartitionCut struct {
	Lane     string
	Clusters int
	// Size of each automatic partition but the last; 0 for one of all.
	Size int
	// Counts of manual partitions.
	Counts []int
}

// RecordedGroup is a group that ever had members.
type RecordedGroup struct {
	Place
	OpenedAt time.Time
}
