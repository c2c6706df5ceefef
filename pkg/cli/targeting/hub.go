package targeting

import (
	"context"
	"fmt"
	"maps"
	"slices"

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

// Hub reads clusters and groups of a hub as the manager does.
type Hub struct {
	reader reader
	store  *variables.Store
}

// NewHub reads by a client, live.
func NewHub(hub client.Reader) *Hub {
	r := reader{hub}
	return &Hub{reader: r, store: variables.NewStore(r)}
}

// World reads what a bundle can go to.
func (h *Hub) World(ctx context.Context, b *fleet.Bundle) (*World, error) {
	reach, err := tenancy.Read(ctx, h.reader, b.Namespace)
	if err != nil {
		return nil, err
	}
	w := &World{}
	if missing := reach.Missing(); missing != "" {
		w.Notes = append(w.Notes, "No cluster can be used: "+missing+".")
	}
	found, err := reach.Clusters(ctx, h.reader)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if !cluster.Exists(found[name]) {
			continue
		}
		c, err := h.Cluster(ctx, found[name])
		if err != nil {
			return nil, err
		}
		w.Clusters = append(w.Clusters, c)
	}
	w.Groups, err = h.Groups(ctx, b)
	return w, err
}

// Cluster reads what templates know as the values of a cluster, and where its agent runs.
func (h *Hub) Cluster(ctx context.Context, mc *clusterv1.ManagedCluster) (Cluster, error) {
	addOn := &addonv1beta1.ManagedClusterAddOn{}
	err := h.reader.Get(ctx, client.ObjectKey{Namespace: mc.Name, Name: v1alpha1.AddOnName}, addOn)
	switch {
	case apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
		addOn = nil
	case err != nil:
		return Cluster{}, fmt.Errorf("get ManagedClusterAddOn %s/%s: %w", mc.Name, v1alpha1.AddOnName, err)
	}
	c := Cluster{Cluster: Of(mc), AgentNamespace: cluster.AgentNamespace(addOn)}
	c.Values, c.ValuesError = h.store.Of(ctx, mc, addOn)
	return c, nil
}

// Of is what a ManagedCluster itself says to targets and templates.
func Of(mc *clusterv1.ManagedCluster) target.Cluster {
	return target.Cluster{Name: mc.Name, Labels: mc.Labels, Annotations: mc.Annotations, Claims: cluster.Claims(mc)}
}

// Groups reads the ClusterGroups that a bundle can name: those of its namespace, and those
// that BundleNamespaceMappings lend.
func (h *Hub) Groups(ctx context.Context, b *fleet.Bundle) ([]target.Group, error) {
	var own fleet.ClusterGroupList
	if err := h.reader.List(ctx, &own, client.InNamespace(b.Namespace)); err != nil {
		return nil, fmt.Errorf("list ClusterGroups of namespace %s: %w", b.Namespace, err)
	}
	lenders, err := tenancy.Lenders(ctx, h.reader, b)
	if err != nil {
		return nil, err
	}
	lent, err := tenancy.Lent(ctx, h.reader, lenders)
	return append(target.Groups(own.Items), lent...), err
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
