package simulate

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kind and version of the script, which is a file and never an object on a hub.
const (
	Kind       = "Simulation"
	APIVersion = "fleet.open-cluster-management.io/v1alpha1"
)

// Simulation is a script: which clusters there are, and what happens to them. Times
// are Go durations from the start. Several in one run are added together.
type Simulation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec SimulationSpec `json:"spec"`
}

// SimulationSpec is what happens.
type SimulationSpec struct {
	// Bundle that is rolled out, "name" or "namespace/name". Unset: the only one.
	Bundle string `json:"bundle,omitempty"`
	// Seed of everything random. Unset: 1. The command's --seed wins.
	Seed *int64 `json:"seed,omitempty"`
	// Installed is the revision that every selected cluster ran well before the start.
	// Unset: nothing is installed.
	Installed string `json:"installed,omitempty"`
	// Revisions of the bundle and when they are committed. Unset: "v2" at 0s after an
	// installed one, else "v1" at 0s.
	Revisions []Revision `json:"revisions,omitempty"`
	// Clusters that are there at the start, beside ManagedClusters in the files.
	Clusters []Clusters `json:"clusters,omitempty"`
	// Outcomes say how a cluster fares with a revision; the first that fits counts. One
	// that none fits is ready after 30s.
	Outcomes []Outcome `json:"outcomes,omitempty"`
	// Offline are windows in which clusters are not available.
	Offline []Window `json:"offline,omitempty"`
	// Joins are clusters that come later.
	Joins []Join `json:"joins,omitempty"`
	// Leaves are clusters whose ManagedCluster is deleted.
	Leaves []Leave `json:"leaves,omitempty"`
	// Relabels change labels of clusters.
	Relabels []Relabel `json:"relabels,omitempty"`
	// Pauses of the rollout.
	Pauses []Pause `json:"pauses,omitempty"`
	// Confirms are times at which a person confirms all that is held for confirmation.
	Confirms []string `json:"confirms,omitempty"`
	// MaxDuration is where the simulation ends at the latest. Unset: 24h. The command's
	// --until wins.
	MaxDuration string `json:"maxDuration,omitempty"`
}

// Revision is one commit.
type Revision struct {
	At   string `json:"at,omitempty"`
	Name string `json:"name"`
}

// Clusters are one cluster, or count of them named by a prefix and a number from 1
// with leading zeros.
type Clusters struct {
	Name       string            `json:"name,omitempty"`
	NamePrefix string            `json:"namePrefix,omitempty"`
	Count      int               `json:"count,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	// Claims as in ManagedCluster.status.clusterClaims.
	Claims map[string]string `json:"claims,omitempty"`
}

// Which picks clusters; all that is given must hold, and nothing given picks all.
type Which struct {
	Clusters []string              `json:"clusters,omitempty"`
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// Share picks a part of them by chance, such as "5%".
	Share string `json:"share,omitempty"`
}

// The results of an outcome.
const (
	ResultReady = "Ready"
	ResultFails = "Fails"
	ResultNever = "NeverReady"
)

// Outcome is how a cluster fares with a revision.
type Outcome struct {
	Which `json:",inline"`
	// Revisions that this is for. Unset: all.
	Revisions []string `json:"revisions,omitempty"`
	// Result is Ready (the default), Fails (a terminal error) or NeverReady.
	Result string `json:"result,omitempty"`
	// After is how long it takes until ready or failed. Unset: 30s.
	After string `json:"after,omitempty"`
	// Spread is added to After by chance, evenly from 0 to this.
	Spread string `json:"spread,omitempty"`
	// RetryFor is how long the agent first reports an error that it retries. Ready only.
	RetryFor string `json:"retryFor,omitempty"`
	// Message of the error, or of what is not ready.
	Message string `json:"message,omitempty"`
}

// Window is a time in which clusters are not available. What they do meanwhile is
// reported when they are back.
type Window struct {
	Which `json:",inline"`
	From  string `json:"from,omitempty"`
	// To is the end. Unset: they stay away.
	To string `json:"to,omitempty"`
}

// Join is clusters that come later.
type Join struct {
	At       string     `json:"at"`
	Clusters []Clusters `json:"clusters"`
}

// Leave is clusters that are deleted.
type Leave struct {
	Which `json:",inline"`
	At    string `json:"at"`
}

// Relabel changes labels.
type Relabel struct {
	Which `json:",inline"`
	At    string `json:"at"`
	// Labels that are set, and Remove the keys of those that are taken away.
	Labels map[string]string `json:"labels,omitempty"`
	Remove []string          `json:"remove,omitempty"`
}

// Pause is a time in which the rollout is paused.
type Pause struct {
	From string `json:"from,omitempty"`
	// To is when it is resumed. Unset: never.
	To string `json:"to,omitempty"`
}
