// Package tenancy answers which clusters a namespace may use: those of the
// ManagedClusterSets that are bound to it, as with Placement.
package tenancy

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cache indexes.
const (
	// IndexSetLabel finds ManagedClusters by their cluster set label.
	IndexSetLabel = "tenancy.set"
	// IndexBoundSet finds ManagedClusterSetBindings by the set that they name.
	IndexBoundSet = "tenancy.bound-set"
)

// AddIndexes adds the indexes of this package.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &clusterv1.ManagedCluster{}, IndexSetLabel, func(o client.Object) []string {
		if set := o.GetLabels()[clusterv1beta2.ClusterSetLabel]; set != "" {
			return []string{set}
		}
		return nil
	}); err != nil {
		return fmt.Errorf("index ManagedClusters: %w", err)
	}
	if err := indexer.IndexField(ctx, &clusterv1beta2.ManagedClusterSetBinding{}, IndexBoundSet, func(o client.Object) []string {
		return []string{o.(*clusterv1beta2.ManagedClusterSetBinding).Spec.ClusterSet}
	}); err != nil {
		return fmt.Errorf("index ManagedClusterSetBindings: %w", err)
	}
	return nil
}

// ErrSelector is for a ManagedClusterSet that nobody can tell the clusters of; only a
// person can correct it.
var ErrSelector = errors.New("the set's clusters cannot be told")

// Reach is what a namespace may use.
type Reach struct {
	Namespace string
	// Bindings of the namespace, by name.
	Bindings []clusterv1beta2.ManagedClusterSetBinding
	// Sets that are bound, by name.
	Sets []clusterv1beta2.ManagedClusterSet
}

// Read reads the reach of a namespace, from a cache or live.
func Read(ctx context.Context, reader client.Reader, namespace string) (Reach, error) {
	reach := Reach{Namespace: namespace}
	var bindings clusterv1beta2.ManagedClusterSetBindingList
	if err := reader.List(ctx, &bindings, client.InNamespace(namespace)); err != nil {
		return reach, fmt.Errorf("list ManagedClusterSetBindings of namespace %s: %w", namespace, err)
	}
	reach.Bindings = bindings.Items
	sort.Slice(reach.Bindings, func(i, j int) bool { return reach.Bindings[i].Name < reach.Bindings[j].Name })
	for i := range reach.Bindings {
		b := &reach.Bindings[i]
		if !bound(b) {
			continue
		}
		var set clusterv1beta2.ManagedClusterSet
		err := reader.Get(ctx, client.ObjectKey{Name: b.Spec.ClusterSet}, &set)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return reach, fmt.Errorf("get ManagedClusterSet %s: %w", b.Spec.ClusterSet, err)
		}
		reach.Sets = append(reach.Sets, set)
	}
	return reach, nil
}

// Clusters of the bound sets, by name, in no order. Objects are the cache's own.
func (r Reach) Clusters(ctx context.Context, reader client.Reader) (map[string]*clusterv1.ManagedCluster, error) {
	out := map[string]*clusterv1.ManagedCluster{}
	for i := range r.Sets {
		set := &r.Sets[i]
		selector, exclusive, err := selectorOf(set)
		if err != nil {
			return nil, err
		}
		opts := []client.ListOption{client.MatchingLabelsSelector{Selector: selector}}
		if exclusive {
			opts = []client.ListOption{client.MatchingFields{IndexSetLabel: set.Name}}
		}
		var list clusterv1.ManagedClusterList
		if err := reader.List(ctx, &list, opts...); err != nil {
			return nil, fmt.Errorf("list ManagedClusters of ManagedClusterSet %s: %w", set.Name, err)
		}
		for j := range list.Items {
			out[list.Items[j].Name] = &list.Items[j]
		}
	}
	return out, nil
}

// Missing says why the namespace reaches no cluster set; "" if it does.
func (r Reach) Missing() string {
	if len(r.Sets) > 0 {
		return ""
	}
	if len(r.Bindings) == 0 {
		return fmt.Sprintf("namespace %s has no ManagedClusterSetBinding: create one that names a ManagedClusterSet", r.Namespace)
	}
	names := make([]string, 0, len(r.Bindings))
	for i := range r.Bindings {
		names = append(names, r.Bindings[i].Name)
	}
	return fmt.Sprintf("no ManagedClusterSetBinding of namespace %s is bound to a ManagedClusterSet that exists (%s)",
		r.Namespace, strings.Join(names[:min(len(names), 5)], ", "))
}

// Same tells whether two readings reach the same clusters.
func (r Reach) Same(other Reach) bool {
	if len(r.Sets) != len(other.Sets) {
		return false
	}
	for i := range r.Sets {
		if r.Sets[i].UID != other.Sets[i].UID ||
			!equality.Semantic.DeepEqual(r.Sets[i].Spec.ClusterSelector, other.Sets[i].Spec.ClusterSelector) {
			return false
		}
	}
	return true
}

// Namespaces returns the namespaces that have a binding to a set which a cluster
// with these labels belongs to.
func Namespaces(ctx context.Context, reader client.Reader, clusterLabels map[string]string) ([]string, error) {
	var sets clusterv1beta2.ManagedClusterSetList
	if err := reader.List(ctx, &sets); err != nil {
		return nil, fmt.Errorf("list ManagedClusterSets: %w", err)
	}
	found := map[string]bool{}
	for i := range sets.Items {
		selector, _, err := selectorOf(&sets.Items[i])
		if err != nil || !selector.Matches(labels.Set(clusterLabels)) {
			continue
		}
		names, err := NamespacesOfSet(ctx, reader, sets.Items[i].Name)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			found[n] = true
		}
	}
	out := make([]string, 0, len(found))
	for n := range found {
		out = append(out, n)
	}
	sort.Strings(out)
	return out, nil
}

// NamespacesOfSet returns the namespaces that have a binding to a set.
func NamespacesOfSet(ctx context.Context, reader client.Reader, set string) ([]string, error) {
	var bindings clusterv1beta2.ManagedClusterSetBindingList
	if err := reader.List(ctx, &bindings, client.MatchingFields{IndexBoundSet: set}); err != nil {
		return nil, fmt.Errorf("list ManagedClusterSetBindings of ManagedClusterSet %s: %w", set, err)
	}
	out := make([]string, 0, len(bindings.Items))
	for i := range bindings.Items {
		out = append(out, bindings.Items[i].Namespace)
	}
	return out, nil
}

func bound(b *clusterv1beta2.ManagedClusterSetBinding) bool {
	return b.DeletionTimestamp.IsZero() &&
		meta.IsStatusConditionTrue(b.Status.Conditions, clusterv1beta2.ClusterSetBindingBoundType)
}

// selectorOf is the selector of a set's clusters, and whether it is the exclusive
// cluster set label, which has an index.
func selectorOf(set *clusterv1beta2.ManagedClusterSet) (labels.Selector, bool, error) {
	switch s := set.Spec.ClusterSelector; s.SelectorType {
	case "", clusterv1beta2.ExclusiveClusterSetLabel:
		return labels.SelectorFromSet(labels.Set{clusterv1beta2.ClusterSetLabel: set.Name}), true, nil
	case clusterv1beta2.LabelSelector:
		selector, err := metav1.LabelSelectorAsSelector(s.LabelSelector)
		if err != nil {
			return nil, false, fmt.Errorf("ManagedClusterSet %s: spec.clusterSelector.labelSelector: %w: %w", set.Name, ErrSelector, err)
		}
		return selector, false, nil
	default:
		return nil, false, fmt.Errorf("ManagedClusterSet %s: spec.clusterSelector.selectorType: %w: unknown type %q", set.Name, ErrSelector, s.SelectorType)
	}
}
