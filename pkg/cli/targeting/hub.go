package targeting

import (
	"context"
	"fmt"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/cli/rights"
	"open-cluster-management.io/fleet-addon/pkg/hub/cluster"
	"open-cluster-management.io/fleet-addon/pkg/hub/tenancy"
	"open-cluster-management.io/fleet-addon/pkg/hub/variables"
	"open-cluster-management.io/fleet-addon/pkg/target"
)

// FromHub reads what a bundle can go to, as the manager does.
func FromHub(ctx context.Context, hub client.Reader, b *fleet.Bundle) (*World, error) {
	r := reader{hub}
	reach, err := tenancy.Read(ctx, r, b.Namespace)
	if err != nil {
		return nil, err
	}
	w := &World{}
	if missing := reach.Missing(); missing != "" {
		w.Notes = append(w.Notes, "No cluster can be used: "+missing+".")
	}
	found, err := reach.Clusters(ctx, r)
	if err != nil {
		return nil, err
	}
	store := variables.NewStore(r)
	for _, name := range namesOf(found) {
		if !cluster.Exists(found[name]) {
			continue
		}
		c, err := clusterOf(ctx, r, store, found[name])
		if err != nil {
			return nil, err
		}
		w.Clusters = append(w.Clusters, c)
	}
	w.Groups, err = groupsOf(ctx, r, b)
	return w, err
}

// Groups reads the ClusterGroups that a bundle can name: those of its namespace, and those
// that BundleNamespaceMappings lend.
func Groups(ctx context.Context, hub client.Reader, b *fleet.Bundle) ([]target.Group, error) {
	return groupsOf(ctx, reader{hub}, b)
}

func clusterOf(ctx context.Context, r reader, store *variables.Store, mc *clusterv1.ManagedCluster) (Cluster, error) {
	addOn := &addonv1beta1.ManagedClusterAddOn{}
	err := r.Get(ctx, client.ObjectKey{Namespace: mc.Name, Name: v1alpha1.AddOnName}, addOn)
	switch {
	case apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
		addOn = nil
	case err != nil:
		return Cluster{}, fmt.Errorf("get ManagedClusterAddOn %s/%s: %w", mc.Name, v1alpha1.AddOnName, err)
	}
	c := Cluster{Cluster: targetOf(mc), AgentNamespace: cluster.AgentNamespace(addOn)}
	c.Values, c.ValuesError = store.Of(ctx, mc, addOn)
	return c, nil
}

func targetOf(mc *clusterv1.ManagedCluster) target.Cluster {
	return target.Cluster{Name: mc.Name, Labels: mc.Labels, Annotations: mc.Annotations, Claims: cluster.Claims(mc)}
}

func groupsOf(ctx context.Context, r reader, b *fleet.Bundle) ([]target.Group, error) {
	var own fleet.ClusterGroupList
	if err := r.List(ctx, &own, client.InNamespace(b.Namespace)); err != nil {
		return nil, fmt.Errorf("list ClusterGroups of namespace %s: %w", b.Namespace, err)
	}
	groups := target.Groups(own.Items)
	lenders, err := tenancy.Lenders(ctx, r, b)
	if err != nil {
		return nil, err
	}
	for i := range lenders {
		clusters, err := lenders[i].Reach.Clusters(ctx, r)
		if err != nil {
			return nil, err
		}
		both := make(map[string]bool, len(clusters))
		for name := range clusters {
			both[name] = true
		}
		for _, group := range lenders[i].Groups {
			groups = append(groups, target.Group{ClusterGroup: group, Clusters: both})
		}
	}
	return groups, nil
}

// reader reads live what the manager's packages read from their cache: it has the index
// of cluster sets, and configs as they are kept there. Its errors say which right is
// missing.
type reader struct{ client.Reader }

// Get reads an object.
func (r reader) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	if err := r.Reader.Get(ctx, key, into, opts...); err != nil {
		return rights.Missing(err, "get", resourceOf(into), key.Namespace)
	}
	config, ok := into.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	stripped, err := variables.Strip(config)
	if err != nil {
		return err
	}
	stripped.(*unstructured.Unstructured).DeepCopyInto(config)
	return nil
}

// List reads objects.
func (r reader) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	o := (&client.ListOptions{}).ApplyOptions(opts)
	if o.FieldSelector != nil {
		if set, ok := o.FieldSelector.RequiresExactMatch(tenancy.IndexSetLabel); ok {
			o.FieldSelector = nil
			o.LabelSelector = labels.SelectorFromSet(labels.Set{clusterv1beta2.ClusterSetLabel: set})
		}
	}
	err := r.Reader.List(ctx, into, o)
	if _, mappings := into.(*fleet.BundleNamespaceMappingList); mappings && meta.IsNoMatchError(err) {
		// A hub whose manager does not know them has none.
		return nil
	}
	if err != nil {
		return rights.Missing(err, "list", resourceOf(into), o.Namespace)
	}
	return nil
}

// resources are how rights name the kinds that are read.
func resourceOf(object any) string {
	switch o := object.(type) {
	case *clusterv1beta2.ManagedClusterSetBindingList:
		return "managedclustersetbindings.cluster.open-cluster-management.io"
	case *clusterv1beta2.ManagedClusterSet:
		return "managedclustersets.cluster.open-cluster-management.io"
	case *clusterv1.ManagedClusterList:
		return "managedclusters.cluster.open-cluster-management.io"
	case *addonv1beta1.ManagedClusterAddOn:
		return "managedclusteraddons.addon.open-cluster-management.io"
	case *fleet.ClusterGroupList:
		return "clustergroups.fleet.cattle.io"
	case *fleet.BundleNamespaceMappingList:
		return "bundlenamespacemappings.fleet.cattle.io"
	case *metav1.PartialObjectMetadataList:
		return "namespaces"
	case *unstructured.Unstructured:
		return "addondeploymentconfigs." + o.GroupVersionKind().Group
	}
	return fmt.Sprintf("%T", object)
}
