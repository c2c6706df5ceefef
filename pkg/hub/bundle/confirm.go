package bundle

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/cluster"
	"open-cluster-management.io/fleet-addon/pkg/hub/outcome"
	"open-cluster-management.io/fleet-addon/pkg/hub/placement"
	"open-cluster-management.io/fleet-addon/pkg/hub/tenancy"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// liveDelay is how long the cache is given to show what a live read has shown.
const liveDelay = time.Second

// confirmation compares what a plan has believed with live reads, before anything
// is removed because of it.
type confirmation struct {
	*carrying
	// selection says why the selection of clusters cannot be believed; nil if it can.
	selection error
}

// confirmation reads live what all removals depend on. Those of clusters that are
// gone depend on nothing else.
func (c *carrying) confirmation(ctx context.Context, removes []rollout.Remove) *confirmation {
	check := &confirmation{carrying: c}
	for _, r := range removes {
		if r.Deleted {
			continue
		}
		for _, same := range []func(context.Context) error{
			check.bundle, check.rollout, check.reach, check.groups, check.lenders, check.policies, check.placements,
		} {
			if check.selection = same(ctx); check.selection != nil {
				break
			}
		}
		break
	}
	return check
}

func changed(format string, args ...any) error {
	return outcome.Wait(liveDelay, "%s has changed since the plan", fmt.Sprintf(format, args...))
}

// cluster confirms one removal.
func (c *confirmation) cluster(ctx context.Context, r rollout.Remove) error {
	live := &clusterv1.ManagedCluster{}
	err := c.Live.Get(ctx, client.ObjectKey{Name: r.Cluster}, live)
	gone := apierrors.IsNotFound(err)
	if err != nil && !gone {
		return fmt.Errorf("get ManagedCluster %s live: %w", r.Cluster, err)
	}
	if r.Deleted {
		if gone || !cluster.Exists(live) {
			return nil
		}
		return changed("ManagedCluster %s", r.Cluster)
	}
	if c.selection != nil {
		return c.selection
	}
	believed := c.facts.clusters[r.Cluster]
	if gone || believed == nil || !cluster.SameScheduling(live, believed) {
		return changed("ManagedCluster %s", r.Cluster)
	}
	return nil
}

func (c *confirmation) bundle(ctx context.Context) error {
	live := &fleet.Bundle{}
	if err := c.Live.Get(ctx, c.facts.key(), live); err != nil {
		return fmt.Errorf("get Bundle %s live: %w", c.facts.key(), err)
	}
	believed := c.facts.bundle
	if live.UID != believed.UID || identityOf(live) != identityOf(believed) {
		return changed("Bundle %s", c.facts.key())
	}
	return nil
}

// rollout confirms that nobody has paused, pinned or taken back a confirmation. What a
// pin names cannot change: it has its hash.
func (c *confirmation) rollout(ctx context.Context) error {
	live := &v1alpha1.Rollout{}
	if err := c.Live.Get(ctx, c.facts.key(), live); err != nil {
		return fmt.Errorf("get Rollout %s live: %w", c.facts.key(), err)
	}
	believed := c.facts.rollout
	if live.UID != believed.UID || live.Generation != believed.Generation {
		return changed("spec of Rollout %s", c.facts.key())
	}
	return nil
}

func (c *confirmation) reach(ctx context.Context) error {
	live, err := tenancy.Read(ctx, c.Live, c.facts.bundle.Namespace)
	if err != nil {
		return err
	}
	if !live.Same(c.facts.reach) {
		return changed("what is bound to namespace %s", c.facts.bundle.Namespace)
	}
	return nil
}

func (c *confirmation) groups(ctx context.Context) error {
	var live fleet.ClusterGroupList
	if err := c.Live.List(ctx, &live, client.InNamespace(c.facts.bundle.Namespace)); err != nil {
		return fmt.Errorf("list ClusterGroups live: %w", err)
	}
	if !reflect.DeepEqual(identities(pointers(live.Items)), identities(pointers(c.facts.ownGroups))) {
		return changed("a ClusterGroup of namespace %s", c.facts.bundle.Namespace)
	}
	return nil
}

// lenders confirms which ClusterGroups of other namespaces the bundle can name, and which
// clusters these namespaces may use.
func (c *confirmation) lenders(ctx context.Context) error {
	live, err := tenancy.Lenders(ctx, c.Live, c.facts.bundle)
	if err != nil {
		return err
	}
	same := slices.EqualFunc(live, c.facts.lenders, func(a, b tenancy.Lender) bool {
		return a.Reach.Namespace == b.Reach.Namespace && a.Reach.Same(b.Reach) &&
			reflect.DeepEqual(identities(pointers(a.Groups)), identities(pointers(b.Groups)))
	})
	if !same {
		return changed("a BundleNamespaceMapping of namespace %s, or what it lends,", c.facts.bundle.Namespace)
	}
	return nil
}

// identity is a version of what people wrote, apart from status and metadata that
// decides nothing.
type identity struct {
	generation int64
	labels     string
}

func identityOf(o client.Object) identity {
	return identity{o.GetGeneration(), labels.Set(o.GetLabels()).String()}
}

// identities of objects by UID.
func identities[T client.Object](objects []T) map[types.UID]identity {
	out := make(map[types.UID]identity, len(objects))
	for _, o := range objects {
		out[o.GetUID()] = identityOf(o)
	}
	return out
}

func pointers[T any](items []T) []*T {
	out := make([]*T, len(items))
	for i := range items {
		out[i] = &items[i]
	}
	return out
}

func (c *confirmation) policies(ctx context.Context) error {
	var live v1alpha1.RolloutPolicyList
	if err := c.Live.List(ctx, &live, client.InNamespace(c.facts.bundle.Namespace)); err != nil {
		return fmt.Errorf("list RolloutPolicies live: %w", err)
	}
	if !reflect.DeepEqual(identities(pointers(live.Items)), identities(c.facts.policies)) {
		return changed("a RolloutPolicy of namespace %s", c.facts.bundle.Namespace)
	}
	return nil
}

func (c *confirmation) placements(ctx context.Context) error {
	for name, view := range c.facts.views {
		key, err := placement.Key(name)
		if err != nil {
			return err
		}
		live, err := placement.Read(ctx, c.Live, key)
		if err != nil {
			return err
		}
		if live.Inconsistent != "" || !reflect.DeepEqual(live, view.Snapshot) {
			return changed("Placement %s", name)
		}
	}
	return nil
}
