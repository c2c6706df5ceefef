package rollout

// Reason is one word of a closed list: why a cluster, a group or a rollout is not further.
type Reason string

// The reasons.
const (
	Complete              Reason = "Complete"
	InProgress            Reason = "InProgress"
	NoClusters            Reason = "NoClusters"
	Paused                Reason = "Paused"
	WaitingForGroup       Reason = "WaitingForGroup"
	SoakingReason         Reason = "Soaking"
	FailureBudgetExceeded Reason = "FailureBudgetExceeded"
	MandatoryGroupMissing Reason = "MandatoryGroupMissing"
	PlacementNotFound     Reason = "PlacementNotFound"
	PlacementInconsistent Reason = "PlacementInconsistent"
	PlacementSettling     Reason = "PlacementSettling"
	EmptyDecisionGroup    Reason = "EmptyDecisionGroup"
	NotInPlacement        Reason = "NotInPlacement"
	Unreachable           Reason = "Unreachable"
	PolicyMissing         Reason = "PolicyMissing"
	PolicyConflict        Reason = "PolicyConflict"
	StrategyInvalid       Reason = "StrategyInvalid"
	BundleInvalid         Reason = "BundleInvalid"
	BindingMissing        Reason = "BindingMissing"
	RenderFailed          Reason = "RenderFailed"
	TooLarge              Reason = "TooLarge"
	WorkRefused           Reason = "WorkRefused"
	AddOnNotInstalled     Reason = "AddOnNotInstalled"
	Offline               Reason = "Offline"
	WaitingForDependency  Reason = "WaitingForDependency"
	Retrying              Reason = "Retrying"
	NotReady              Reason = "NotReady"
	DeadlineExceeded      Reason = "DeadlineExceeded"
	// DeployFailed: the agent reported a terminal error.
	DeployFailed     Reason = "DeployFailed"
	NoLongerSelected Reason = "NoLongerSelected"
	// RolloutSourceChanged holds what another source than the present one decided.
	RolloutSourceChanged Reason = "RolloutSourceChanged"
	// GroupVanished holds a lane that lost a group which had clusters.
	GroupVanished Reason = "GroupVanished"
	// RemovalGuard holds removals that are too many at once.
	RemovalGuard      Reason = "RemovalGuard"
	MaxConcurrency    Reason = "MaxConcurrency"
	MaxUnavailable    Reason = "MaxUnavailable"
	MaxNew            Reason = "MaxNew"
	PartitionNotReady Reason = "PartitionNotReady"
	NotInPartition    Reason = "NotInPartition"
	DependencyCycle   Reason = "DependencyCycle"
	// PartitionGateIneffective and PartitionsIgnored are warnings.
	PartitionGateIneffective Reason = "PartitionGateIneffective"
	PartitionsIgnored        Reason = "PartitionsIgnored"
	// GroupNotFound warns of settings for a group that nobody has.
	GroupNotFound Reason = "GroupNotFound"
	// RevisionNotFound: the Rollout pins a revision that is not kept.
	RevisionNotFound Reason = "RevisionNotFound"
	// ValuesMissing: the Secret with the bundle's Helm values is not there, or holds others;
	// or nobody knows yet the values of a cluster.
	ValuesMissing Reason = "ValuesMissing"
)

// Hold is a reason and the sentence that goes with it.
type Hold struct {
	Reason   Reason
	Sentence string
}
