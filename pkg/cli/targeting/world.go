package targeting

import (
	"cmp"
	"slices"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/fleet-addon/pkg/hub/cluster"
	"open-cluster-management.io/fleet-addon/pkg/target"
)

// World is what a bundle can go to.
type World struct {
	// Clusters that the namespace of the bundle may use, by name.
	Clusters []Cluster
	// Groups that the bundle may name.
	Groups []target.Group
	// Notes are sentences about the world that the reader of an answer should know.
	Notes []string
}

// Cluster is one of them, and where its agent runs.
type Cluster struct {
	target.Cluster
	AgentNamespace string
}

// The stand-in cluster and its group.
const (
	standInCluster = "local"
	standInGroup   = "default"
)

// StandIn is a world with one cluster, which is in the group that bundles without targets
// go to.
func StandIn(namespace string) *World {
	group := fleet.ClusterGroup{}
	group.Namespace, group.Name, group.Spec.Selector = namespace, standInGroup, &metav1.LabelSelector{}
	return &World{
		Clusters: []Cluster{{Cluster: target.Cluster{Name: standInCluster}, AgentNamespace: cluster.DefaultAgentNamespace}},
		Groups:   []target.Group{{ClusterGroup: group, Clusters: map[string]bool{standInCluster: true}}},
		Notes: []string{"There is no kubeconfig and no --clusters: one stand-in cluster `" + standInCluster + "` without labels, in the ClusterGroup `" +
			standInGroup + "`, is taken."},
	}
}

// Only leaves one cluster; false if it is not there.
func (w *World) Only(name string) bool {
	at := slices.IndexFunc(w.Clusters, func(c Cluster) bool { return c.Name == name })
	if at < 0 {
		return false
	}
	w.Clusters = []Cluster{w.Clusters[at]}
	return true
}

// Names of the clusters, in order.
func (w *World) Names() []string {
	out := make([]string, len(w.Clusters))
	for i := range w.Clusters {
		out[i] = w.Clusters[i].Name
	}
	return out
}

func (w *World) sort() {
	slices.SortFunc(w.Clusters, func(a, b Cluster) int { return cmp.Compare(a.Name, b.Name) })
}

func (w *World) targets() []target.Cluster {
	out := make([]target.Cluster, len(w.Clusters))
	for i := range w.Clusters {
		out[i] = w.Clusters[i].Cluster
	}
	return out
}
