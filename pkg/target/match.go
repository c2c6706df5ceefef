package target

import (
	"fmt"
	"slices"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// terms are the four ways to name clusters that targets and restrictions share.
type terms struct {
	clusterName          string
	clusterSelector      *metav1.LabelSelector
	clusterGroup         string
	clusterGroupSelector *metav1.LabelSelector
}

func targetTerms(t *fleet.BundleTarget) terms {
	return terms{t.ClusterName, t.ClusterSelector, t.ClusterGroup, t.ClusterGroupSelector}
}

func restrictionTerms(r *fleet.BundleTargetRestriction) terms {
	return terms{r.ClusterName, r.ClusterSelector, r.ClusterGroup, r.ClusterGroupSelector}
}

func (t terms) onlyDefaultGroup() bool {
	return t == terms{clusterGroup: defaultTarget}
}

// criteria are terms with their selectors parsed; all that are given must hold.
type criteria struct {
	never       bool
	clusterName string
	clusters    labels.Selector
	// grouped is true when the terms say something about groups: the cluster has to
	// be in one of candidates or, if groupless, in no group at all.
	grouped    bool
	candidates []*group
	groupless  bool
	all        *groups
}

func (c criteria) match(cluster *Cluster) bool {
	switch {
	case c.never:
		return false
	case c.clusterName != "" && c.clusterName != cluster.Name:
		return false
	case c.clusters != nil && !c.clusters.Matches(labels.Set(cluster.Labels)):
		return false
	case !c.grouped:
		return true
	}
	return anyHas(c.candidates, cluster) || c.groupless && !anyHas(c.all.list, cluster)
}

// together tells whether two criteria that match a cluster do so by the same group.
func (c *criteria) together(other *criteria, cluster *Cluster) bool {
	if !c.grouped || !other.grouped {
		return true
	}
	if c.groupless && other.groupless && !anyHas(c.all.list, cluster) {
		return true
	}
	for _, g := range c.candidates {
		// Both have their groups from one list.
		if slices.Contains(other.candidates, g) && g.has(cluster) {
			return true
		}
	}
	return false
}

// compile parses terms. Only a broken group that the terms refer to is an error,
// so that one group cannot hold the bundles that have nothing to do with it.
func (gs *groups) compile(t terms, path *field.Path) (criteria, error) {
	c := criteria{clusterName: t.clusterName, all: gs}
	c.grouped = t.clusterGroup != "" || t.clusterGroupSelector != nil
	c.never = t.clusterName == "" && t.clusterSelector == nil && !c.grouped
	var err error
	if t.clusterSelector != nil {
		if c.clusters, err = metav1.LabelSelectorAsSelector(t.clusterSelector); err != nil {
			return criteria{}, fmt.Errorf("%s: %w", path.Child("clusterSelector"), err)
		}
	}
	byLabels := labels.Everything()
	if t.clusterGroupSelector != nil {
		if byLabels, err = metav1.LabelSelectorAsSelector(t.clusterGroupSelector); err != nil {
			return criteria{}, fmt.Errorf("%s: %w", path.Child("clusterGroupSelector"), err)
		}
		// A cluster in no group counts as one in a group without name and labels.
		c.groupless = t.clusterGroup == "" && byLabels.Matches(labels.Set{})
	}
	if c.grouped {
		c.candidates, err = gs.find(t.clusterGroup, byLabels, c.groupless)
	}
	return c, err
}
