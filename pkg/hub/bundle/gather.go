package bundle

import (
	"context"
	"errors"
	"fmt"
	"time"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/lenient"
	"open-cluster-management.io/fleet-addon/pkg/hub/placement"
	"open-cluster-management.io/fleet-addon/pkg/hub/tenancy"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/pkg/target"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

// IndexBundle finds ManifestWorks and ControllerRevisions by the "namespace/name" of
// their bundle.
const IndexBundle = "bundle.bundle"

// AddIndexes adds the indexes of this package.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	of := func(o client.Object) []string {
		if bundle := o.GetAnnotations()[v1alpha1.AnnotationBundle]; bundle != "" {
			return []string{bundle}
		}
		return nil
	}
	for _, kind := range []client.Object{&workv1.ManifestWork{}, &appsv1.ControllerRevision{}} {
		if err := indexer.IndexField(ctx, kind, IndexBundle, of); err != nil {
			return fmt.Errorf("index %T: %w", kind, err)
		}
	}
	return nil
}

// facts are all that a bundle's plan depends on, read from the cache at once.
// Objects in pointers may be the cache's own: they are read, never changed.
type facts struct {
	now       time.Time
	bundle    *fleet.Bundle
	namespace map[string]string
	// leaving is true once the namespace is being deleted.
	leaving  bool
	policies []*v1alpha1.RolloutPolicy
	addOn    *addonv1beta1.ClusterManagementAddOn
	// ownGroups are the ClusterGroups of the namespace; groups are all that the bundle can
	// name, with those of lenders.
	ownGroups []fleet.ClusterGroup
	groups    []target.Group
	lenders   []tenancy.Lender
	reach     tenancy.Reach
	// unreadable says which set's clusters cannot be told; "" if all can.
	unreadable string
	// rollout is nil before it was created.
	rollout *v1alpha1.Rollout
	// revisions that are kept, the oldest number first, as revision.Strip leaves them.
	revisions []*appsv1.ControllerRevision
	// pinned is the edition that the Rollout pins; nil if it pins none, or one that
	// cannot be used, as pinTrouble says.
	pinned     *edition
	pinTrouble string
	// clusters that the namespace reaches, and those that have a work.
	clusters map[string]*clusterv1.ManagedCluster
	// reached are the names of the former.
	reached map[string]bool
	addOns  map[string]*addonv1beta1.ManagedClusterAddOn
	// values finds what templates know as the values of one of the clusters.
	values func(cluster string) (map[string]any, error)
	works  map[string]*workv1.ManifestWork
	source rollout.Source
	// views of the lanes' Placements, by LaneSpec.Placement.
	views map[string]*rollout.View
}

func (f *facts) key() types.NamespacedName { return client.ObjectKeyFromObject(f.bundle) }

// gatherOwn reads what this controller writes itself.
func (r *Reconciler) gatherOwn(ctx context.Context, f *facts) error {
	for _, read := range []func(context.Context, *facts) error{r.readWorks, r.readRollout, r.readRevisions} {
		if err := read(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// gather reads the rest.
func (r *Reconciler) gather(ctx context.Context, f *facts) error {
	for _, read := range []func(context.Context, *facts) error{
		r.readNamespace, r.readAddOn, r.readReach, r.readClusters, r.readPlacements,
	} {
		if err := read(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) readWorks(ctx context.Context, f *facts) error {
	works, err := r.worksOf(ctx, f.key())
	f.works = works
	return err
}

// worksOf returns the works of a bundle by cluster.
func (r *Reconciler) worksOf(ctx context.Context, bundle types.NamespacedName) (map[string]*workv1.ManifestWork, error) {
	list, err := r.listWorks(ctx, bundle)
	if err != nil {
		return nil, err
	}
	works, name := make(map[string]*workv1.ManifestWork, len(list)), work.Name(bundle)
	for i := range list {
		// Somebody's copy under another name is no work of the bundle.
		if list[i].Name == name {
			works[list[i].Namespace] = &list[i]
		}
	}
	return works, nil
}

// listWorks returns every work that says it is the bundle's.
func (r *Reconciler) listWorks(ctx context.Context, bundle types.NamespacedName) ([]workv1.ManifestWork, error) {
	var list workv1.ManifestWorkList
	if err := r.Reader.List(ctx, &list, client.MatchingFields{IndexBundle: bundle.String()}); err != nil {
		return nil, fmt.Errorf("list ManifestWorks of Bundle %s: %w", bundle, err)
	}
	return list.Items, nil
}

func (r *Reconciler) readRollout(ctx context.Context, f *facts) error {
	ro := &v1alpha1.Rollout{}
	err := r.Reader.Get(ctx, f.key(), ro)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get Rollout %s: %w", f.key(), err)
	}
	f.rollout = ro
	return nil
}

func (r *Reconciler) readNamespace(ctx context.Context, f *facts) error {
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(namespaceKind)
	if err := r.Reader.Get(ctx, client.ObjectKey{Name: f.bundle.Namespace}, ns); err != nil {
		return fmt.Errorf("get Namespace %s: %w", f.bundle.Namespace, err)
	}
	f.namespace, f.leaving = ns.Labels, !ns.DeletionTimestamp.IsZero()
	var policies v1alpha1.RolloutPolicyList
	if err := r.Reader.List(ctx, &policies, client.InNamespace(f.bundle.Namespace)); err != nil {
		return fmt.Errorf("list RolloutPolicies of namespace %s: %w", f.bundle.Namespace, err)
	}
	for i := range policies.Items {
		f.policies = append(f.policies, &policies.Items[i])
	}
	var groups fleet.ClusterGroupList
	if err := r.Reader.List(ctx, &groups, client.InNamespace(f.bundle.Namespace)); err != nil {
		return fmt.Errorf("list ClusterGroups of namespace %s: %w", f.bundle.Namespace, err)
	}
	f.ownGroups = groups.Items
	return r.readLenders(ctx, f)
}

// readLenders adds the ClusterGroups that BundleNamespaceMappings lend.
func (r *Reconciler) readLenders(ctx context.Context, f *facts) error {
	var lent []target.Group
	var err error
	if f.lenders, err = tenancy.Lenders(ctx, r.Reader, f.bundle); err == nil {
		lent, err = tenancy.Lent(ctx, r.Reader, f.lenders)
	}
	f.groups = append(target.Groups(f.ownGroups), lent...)
	if errors.Is(err, tenancy.ErrSelector) {
		f.unreadable = err.Error()
		return nil
	}
	return err
}

func (r *Reconciler) readAddOn(ctx context.Context, f *facts) error {
	addOn := &addonv1beta1.ClusterManagementAddOn{}
	err := r.Reader.Get(ctx, client.ObjectKey{Name: v1alpha1.AddOnName}, addOn)
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("get ClusterManagementAddOn %s: %w", v1alpha1.AddOnName, err)
	default:
		f.addOn = addOn
	}
	f.source = f.resolve(f.inForce())
	return nil
}

// resolve finds where the lanes of an edition come from.
func (f *facts) resolve(b *fleet.Bundle) rollout.Source {
	return rollout.ResolveSource(rollout.SourceInput{
		Bundle: b, NamespaceLabels: f.namespace, Policies: f.policies, Unreadable: unreadable(f.policies),
		AddOn: f.addOn, OwnTargets: target.HasOwnTargets(b, f.groups),
	})
}

// unreadable are the policies that Go cannot read, with why.
func unreadable(policies []*v1alpha1.RolloutPolicy) map[string]string {
	out := map[string]string{}
	for _, p := range policies {
		if why := lenient.Unreadable(p); why != "" {
			out[p.Name] = why
		}
	}
	return out
}

func (r *Reconciler) readReach(ctx context.Context, f *facts) error {
	reach, err := tenancy.Read(ctx, r.Reader, f.bundle.Namespace)
	f.reach = reach
	return err
}

func (r *Reconciler) readClusters(ctx context.Context, f *facts) error {
	clusters, err := f.reach.Clusters(ctx, r.Reader)
	switch {
	case errors.Is(err, tenancy.ErrSelector):
		f.unreadable, clusters = err.Error(), map[string]*clusterv1.ManagedCluster{}
	case err != nil:
		return err
	}
	f.clusters, f.reached = clusters, make(map[string]bool, len(clusters))
	for name := range clusters {
		f.reached[name] = true
	}
	for name := range f.works {
		if f.reached[name] {
			continue
		}
		c := &clusterv1.ManagedCluster{}
		err := r.Reader.Get(ctx, client.ObjectKey{Name: name}, c)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return fmt.Errorf("get ManagedCluster %s: %w", name, err)
		default:
			f.clusters[name] = c
		}
	}
	f.addOns = make(map[string]*addonv1beta1.ManagedClusterAddOn, len(f.clusters))
	f.values = func(name string) (map[string]any, error) {
		return r.valuesOf(ctx, f.addOn, f.clusters[name], f.addOns[name])
	}
	for name := range f.clusters {
		addOn := &addonv1beta1.ManagedClusterAddOn{}
		err := r.Reader.Get(ctx, client.ObjectKey{Namespace: name, Name: v1alpha1.AddOnName}, addOn)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return fmt.Errorf("get ManagedClusterAddOn %s/%s: %w", name, v1alpha1.AddOnName, err)
		default:
			f.addOns[name] = addOn
		}
	}
	return nil
}

func (r *Reconciler) readPlacements(ctx context.Context, f *facts) error {
	f.views = map[string]*rollout.View{}
	follows := map[types.NamespacedName]bool{}
	for _, lane := range f.source.Lanes {
		if lane.Placement == "" {
			continue
		}
		key, err := placement.Key(lane.Placement)
		if err != nil {
			return err
		}
		if f.views[lane.Placement], err = r.Placements.Look(ctx, f.key(), key); err != nil {
			return err
		}
		follows[key] = true
	}
	r.Placements.Forget(f.key(), follows)
	return nil
}
