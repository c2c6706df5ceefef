package target

import (
	"fmt"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Group is a ClusterGroup that a bundle may name.
type Group struct {
	fleet.ClusterGroup
	// Clusters are the only ones that can be in it, by name; nil means any. A group of
	// another namespace, which a BundleNamespaceMapping lends, holds the clusters only
	// that both namespaces may use.
	Clusters map[string]bool
}

// Groups are the ClusterGroups of a bundle's own namespace.
func Groups(in []fleet.ClusterGroup) []Group {
	out := make([]Group, len(in))
	for i := range in {
		out[i].ClusterGroup = in[i]
	}
	return out
}

// group is a Group with its selector parsed.
type group struct {
	namespace, name string
	labels          labels.Set
	selector        labels.Selector
	clusters        map[string]bool
	err             error
}

func (g *group) has(c *Cluster) bool {
	return (g.clusters == nil || g.clusters[c.Name]) && g.selector.Matches(labels.Set(c.Labels))
}

type groups struct{ list []*group }

func newGroups(in []Group) *groups {
	out := &groups{}
	for i := range in {
		g := &group{namespace: in[i].Namespace, name: in[i].Name, labels: in[i].Labels, clusters: in[i].Clusters}
		if g.selector, g.err = metav1.LabelSelectorAsSelector(in[i].Spec.Selector); g.err != nil {
			g.err = fmt.Errorf("ClusterGroup %s/%s: spec.selector: %w", in[i].Namespace, in[i].Name, g.err)
		}
		out.list = append(out.list, g)
	}
	return out
}

// find returns the groups with a name, if one is given, and with labels. A broken
// group is an error if it is one of them or if every group has to be looked at.
func (gs *groups) find(name string, byLabels labels.Selector, all bool) ([]*group, error) {
	var found []*group
	for _, g := range gs.list {
		is := (name == "" || name == g.name) && byLabels.Matches(g.labels)
		if g.err != nil && (is || all) {
			return nil, g.err
		}
		if is {
			found = append(found, g)
		}
	}
	return found, nil
}

func anyHas(list []*group, cluster *Cluster) bool {
	for _, g := range list {
		if g.has(cluster) {
			return true
		}
	}
	return false
}
