package rollout

import "time"

// Result is what Plan answers.
type Result struct {
	// Hold is why the whole rollout is held; nil if it is not.
	Hold *Hold
	// Reason and Sentence are the one thing to tell about the rollout.
	Reason   Reason
	Sentence string
	// Current is the first group that has not passed; nil when all have.
	Current *Place

	// Admit, Refresh, Remove and Stamp are the actions, in the order to take them.
	// A cluster stands in at most one of Admit, Refresh and Remove.
	Admit   []Admit
	Refresh []Refresh
	Remove  []Remove
	Stamp   []Stamp
	// ReadLeases names clusters whose lease the next plan wants to have read live.
	ReadLeases []string

	Lanes    []LaneResult
	Clusters []ClusterResult
	Counts   Counts
	Complete bool
	Breached bool
	Warnings []Hold
	// Confirm is what waits for a person.
	Confirm []ConfirmRequest

	// Record has to be written before the first admission is carried out.
	Record Record
	// Absent has to be handed to the next plan of the bundle as it is: since when
	// clusters are seen to be unselected, or, under other keys, missing in their lane.
	Absent map[string]time.Time
	// RecheckAfter is when time alone changes the plan; 0 if it never does.
	RecheckAfter time.Duration
}

// ConfirmRequest is one thing that is held until a person confirms it.
type ConfirmRequest struct {
	Reason   Reason
	Subject  string
	Sentence string
	// Clusters that would be removed, in name order; RemovalGuard only.
	Clusters []string
}

// Admit writes a cluster's work with a new admission token.
type Admit struct {
	Cluster string
	Place   Place
	// ID and Revision are the desired ones or, for a newcomer to a closed group, those
	// of the last completed revision.
	ID             string
	Revision       string
	MinSuccessTime time.Duration
	// Stamps of the new admission.
	Stamps Stamps
}

// Refresh writes a cluster's work anew without a new admission.
type Refresh struct {
	Cluster        string
	Place          Place
	MinSuccessTime time.Duration
	Stamps         Stamps
}

// Remove deletes a cluster's work, after a live read has confirmed Why.
type Remove struct {
	Cluster string
	// Deleted is true when the ManagedCluster itself is gone or going: nothing else
	// has to be confirmed.
	Deleted bool
	Why     string
}

// Stamp writes new stamps to a work and nothing else.
type Stamp struct {
	Cluster string
	Stamps  Stamps
}

// LaneResult is one lane with its groups in order.
type LaneResult struct {
	Name   string
	Type   string
	Hold   *Hold
	Groups []GroupResult
}

// GroupResult is one group.
type GroupResult struct {
	GroupKey
	Open        bool
	Passed      bool
	Breached    bool
	MaxFailures int
	// MaxConcurrency in clusters, -1 where nothing limits it. With Progressive it is
	// the whole queue's, and so is InFlight, unless the group's own is smaller.
	MaxConcurrency int
	// InFlight is how many clusters are not settled on whatever was admitted to them,
	// after this plan.
	InFlight int
	// MaxUnavailable in clusters, -1 where nothing limits it; Unavailable is how many
	// are admitted and not successful, after this plan.
	MaxUnavailable, Unavailable int
	MinSuccessTime              time.Duration
	// ProgressDeadline is 0 for none.
	ProgressDeadline time.Duration
	Counts           Counts
	// LateJoiners are members that nobody waits for.
	LateJoiners int
	OpenedAt    time.Time
	// NextAt is when a soak or deadline in this group ends first; zero if none runs.
	NextAt   time.Time
	Reason   Reason
	Sentence string
	// Holding names the clusters that the group waits for, in name order.
	Holding []string
	// Next are the clusters that this plan admits or, while paused, would admit.
	Next []string
}

// ClusterResult is one selected cluster, or one with a work.
type ClusterResult struct {
	Name  string
	Place Place
	// InLane is false for a cluster that no lane decides.
	InLane bool
	// Selected is false for one whose work is only kept or about to be removed.
	Selected bool
	// Late is true for a late joiner.
	Late  bool
	State State
	// Shown is the state in Fleet's words.
	Shown    Shown
	Reason   Reason
	Sentence string
	// Until is when a soak or a deadline ends; zero if none runs.
	Until time.Time
	// Since is when the state began, as far as the stamps tell; zero if nobody knows.
	Since time.Time
}

// Counts are clusters by state; they add up to Total.
type Counts struct {
	Total, Pending, Progressing, Soaking, Done, Failed, TimedOut, Recovering int
}

// State of a selected cluster; exactly one.
type State string

// The states.
const (
	Pending     State = "Pending"
	Progressing State = "Progressing"
	Soaking     State = "Soaking"
	Done        State = "Done"
	Failed      State = "Failed"
	TimedOut    State = "TimedOut"
	Recovering  State = "Recovering"
)

// Settled tells whether nobody has to wait for a cluster in this state.
func (s State) Settled() bool {
	return s == Done || s == Failed || s == TimedOut || s == Recovering
}

// Failure tells whether a cluster in this state counts against maxFailures.
func (s State) Failure() bool { return s == Failed || s == TimedOut || s == Recovering }

// Shown is a cluster's state in Fleet's words.
type Shown string

// Fleet's words.
const (
	ShownPending     Shown = "Pending"
	ShownOutOfSync   Shown = "OutOfSync"
	ShownWaitApplied Shown = "WaitApplied"
	ShownErrApplied  Shown = "ErrApplied"
	ShownNotReady    Shown = "NotReady"
	ShownModified    Shown = "Modified"
	ShownReady       Shown = "Ready"
	ShownWaiting     Shown = "WaitingForDependency"
)
