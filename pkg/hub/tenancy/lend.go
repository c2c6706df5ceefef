package tenancy

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/target"
)

// Lender is another namespace, whose ClusterGroups a BundleNamespaceMapping lets a
// bundle name. It lends no cluster: a group has those only that both may use.
type Lender struct {
	Reach  Reach
	Groups []fleet.ClusterGroup
}

// Lenders returns the namespaces that the mappings of a bundle's namespace select for
// it, by name, read from a cache or live. The error is ErrSelector where a mapping has to
// be corrected.
func Lenders(ctx context.Context, reader client.Reader, bundle *fleet.Bundle) ([]Lender, error) {
	selectors, err := mappingsOf(ctx, reader, bundle)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, selector := range selectors {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
		if err := reader.List(ctx, list, client.MatchingLabelsSelector{Selector: selector}); err != nil {
			return nil, fmt.Errorf("list Namespaces: %w", err)
		}
		for i := range list.Items {
			names[list.Items[i].Name] = true
		}
	}
	delete(names, bundle.Namespace)
	var out []Lender
	for _, name := range slices.Sorted(maps.Keys(names)) {
		lender, err := lenderOf(ctx, reader, name)
		if err != nil {
			return nil, err
		}
		out = append(out, lender)
	}
	return out, nil
}

// mappingsOf returns the namespace selectors of the mappings that select a bundle.
func mappingsOf(ctx context.Context, reader client.Reader, bundle *fleet.Bundle) ([]labels.Selector, error) {
	var mappings fleet.BundleNamespaceMappingList
	if err := reader.List(ctx, &mappings, client.InNamespace(bundle.Namespace)); err != nil {
		return nil, fmt.Errorf("list BundleNamespaceMappings of namespace %s: %w", bundle.Namespace, err)
	}
	slices.SortFunc(mappings.Items, func(a, b fleet.BundleNamespaceMapping) int { return cmp.Compare(a.Name, b.Name) })
	var out []labels.Selector
	for i := range mappings.Items {
		m := &mappings.Items[i]
		bundles, err := parse(m, "bundleSelector", m.BundleSelector)
		if err != nil {
			return nil, err
		}
		namespaces, err := parse(m, "namespaceSelector", m.NamespaceSelector)
		if err != nil {
			return nil, err
		}
		if m.DeletionTimestamp.IsZero() && bundles.Matches(labels.Set(bundle.Labels)) {
			out = append(out, namespaces)
		}
	}
	return out, nil
}

// parse reads a selector of a mapping; one that is not there selects nothing.
func parse(m *fleet.BundleNamespaceMapping, field string, s *metav1.LabelSelector) (labels.Selector, error) {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return nil, fmt.Errorf("BundleNamespaceMapping %s/%s: %s: %w: %w", m.Namespace, m.Name, field, ErrSelector, err)
	}
	return selector, nil
}

func lenderOf(ctx context.Context, reader client.Reader, namespace string) (Lender, error) {
	reach, err := Read(ctx, reader, namespace)
	if err != nil {
		return Lender{}, err
	}
	var groups fleet.ClusterGroupList
	if err := reader.List(ctx, &groups, client.InNamespace(namespace)); err != nil {
		return Lender{}, fmt.Errorf("list ClusterGroups of namespace %s: %w", namespace, err)
	}
	slices.SortFunc(groups.Items, func(a, b fleet.ClusterGroup) int { return cmp.Compare(a.Name, b.Name) })
	return Lender{Reach: reach, Groups: groups.Items}, nil
}

// Lent are the ClusterGroups that namespaces lend, each for the clusters only that its own
// namespace may use. The error is ErrSelector where a set has to be corrected; those of the
// namespaces before are returned beside it.
func Lent(ctx context.Context, reader client.Reader, lenders []Lender) ([]target.Group, error) {
	var out []target.Group
	for i := range lenders {
		clusters, err := lenders[i].Reach.Clusters(ctx, reader)
		if err != nil {
			return out, err
		}
		both := make(map[string]bool, len(clusters))
		for name := range clusters {
			both[name] = true
		}
		for _, group := range lenders[i].Groups {
			out = append(out, target.Group{ClusterGroup: group, Clusters: both})
		}
	}
	return out, nil
}

// Borrowers returns the namespaces with a mapping: a change in any namespace can change
// what their bundles may name.
func Borrowers(ctx context.Context, reader client.Reader) ([]string, error) {
	var mappings fleet.BundleNamespaceMappingList
	if err := reader.List(ctx, &mappings); err != nil {
		return nil, fmt.Errorf("list BundleNamespaceMappings: %w", err)
	}
	names := map[string]bool{}
	for i := range mappings.Items {
		names[mappings.Items[i].Namespace] = true
	}
	return slices.Sorted(maps.Keys(names)), nil
}
