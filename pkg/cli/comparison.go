package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/cli/deployment"
	"open-cluster-management.io/fleet-addon/pkg/cli/diff"
	"open-cluster-management.io/fleet-addon/pkg/cli/rights"
	"open-cluster-management.io/fleet-addon/pkg/cli/targeting"
	"open-cluster-management.io/fleet-addon/pkg/target"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

// comparison compares what clusters have with what they would get.
type comparison struct {
	hub      *hub
	next     *candidate
	clusters []diff.Cluster

	reads *targeting.Hub
	// matches are where the next candidate goes; unmatched says why nobody can tell.
	matches   map[string]*target.Match
	unmatched error
	contents  map[string]*v1alpha1.Content
	// sides are what was rendered, and changes what was compared, by all that they are made
	// of: most clusters have the same.
	sides   map[string]sideResult
	changes map[[2]string]changesResult
}

type sideResult struct {
	side diff.Side
	err  error
}

type changesResult struct {
	changes []diff.Change
	err     error
}

func newComparison(h *hub, next *candidate) *comparison {
	return &comparison{
		hub: h, next: next, reads: targeting.NewHub(h.client), contents: map[string]*v1alpha1.Content{}, sides: map[string]sideResult{}, changes: map[[2]string]changesResult{},
	}
}

// all compares one cluster, or all that have the bundle.
func (c *comparison) all(ctx context.Context, names []string) error {
	groups, err := c.reads.Groups(ctx, c.next.bundle)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		return c.named(ctx, groups, names[0])
	}
	known, err := c.hub.managedClusters(ctx)
	if err != nil {
		return rights.Missing(fmt.Errorf("list ManagedClusters: %w", err), "list", "managedclusters."+clusterv1.GroupName, metav1.NamespaceAll)
	}
	c.match(groups, slices.Collect(maps.Values(known))...)
	return c.hub.eachWork(ctx, func(w *workv1.ManifestWork) error { return c.compare(ctx, known[w.Namespace], w.Namespace, w) })
}

// named compares one cluster, which may have nothing of the bundle yet.
func (c *comparison) named(ctx context.Context, groups []target.Group, name string) error {
	mc := &clusterv1.ManagedCluster{}
	err := c.hub.client.Get(ctx, types.NamespacedName{Name: name}, mc)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("there is no ManagedCluster %s: check the name", name)
	case err != nil:
		return rights.Missing(fmt.Errorf("get ManagedCluster %s: %w", name, err), "get", "managedclusters."+clusterv1.GroupName, metav1.NamespaceAll)
	}
	c.match(groups, mc)
	w := &workv1.ManifestWork{}
	err = c.hub.client.Get(ctx, types.NamespacedName{Namespace: name, Name: work.Name(c.hub.bundle)}, w)
	switch {
	case apierrors.IsNotFound(err):
		w = nil
	case err != nil:
		return rights.Missing(fmt.Errorf("get the ManifestWork of Bundle %s: %w", c.hub.bundle, err), "get", "manifestworks."+workv1.GroupName, name)
	}
	return c.compare(ctx, mc, name, w)
}

// compare compares one cluster. Only what concerns all clusters is an error; what is
// wrong with this one is said of it. mc is nil for a cluster that is gone, w for one that
// has nothing of the bundle.
func (c *comparison) compare(ctx context.Context, mc *clusterv1.ManagedCluster, name string, w *workv1.ManifestWork) error {
	out := diff.Cluster{Name: name}
	var before, after *deployment.Deployment
	var err error
	if w != nil {
		before, err = deployment.InWork(w, func(name string) (*v1alpha1.Content, error) { return c.content(ctx, name) })
	}
	if err == nil && mc != nil {
		after, err = c.after(ctx, mc)
	}
	if apierrors.IsForbidden(err) {
		return err
	}
	if err == nil {
		out.From, out.To = releaseOf(before), releaseOf(after)
		out.Changes, err = c.differences(ctx, kubeVersionOf(mc), before, after)
	}
	if err != nil {
		out.Error = err.Error()
	}
	c.clusters = append(c.clusters, out)
	return ctx.Err()
}

func releaseOf(d *deployment.Deployment) string {
	if d == nil {
		return ""
	}
	return d.Key().String()
}

// kubeVersionOf is the Kubernetes version that a cluster says; "" if it does not.
func kubeVersionOf(mc *clusterv1.ManagedCluster) string {
	if mc == nil {
		return ""
	}
	return mc.Status.Version.Kubernetes
}

func (c *comparison) content(ctx context.Context, name string) (*v1alpha1.Content, error) {
	if known := c.contents[name]; known != nil {
		return known, nil
	}
	found, err := c.hub.content(ctx, name)
	if err == nil {
		c.contents[name] = found
	}
	return found, err
}

// match finds which of the clusters the bundle goes to.
func (c *comparison) match(groups []target.Group, known ...*clusterv1.ManagedCluster) {
	clusters := make([]target.Cluster, len(known))
	for i := range known {
		clusters[i] = targeting.Of(known[i])
	}
	var found []target.Match
	if target.HasOwnTargets(c.next.bundle, groups) {
		found, c.unmatched = target.Select(c.next.bundle, groups, clusters)
	} else {
		found = target.SelectAll(c.next.bundle, clusters)
	}
	c.matches = make(map[string]*target.Match, len(found))
	for i := range found {
		c.matches[found[i].Cluster] = &found[i]
	}
}

// after is what a cluster would get; nil if nothing.
func (c *comparison) after(ctx context.Context, mc *clusterv1.ManagedCluster) (*deployment.Deployment, error) {
	match := c.matches[mc.Name]
	if match == nil {
		return nil, c.unmatched
	}
	of := targeting.Of(mc)
	if !match.Uses().Values.None() {
		// What costs a request, and needs a right, is asked for only where it is used.
		read, err := c.reads.Cluster(ctx, mc)
		if err != nil {
			return nil, err
		}
		of = read.Cluster
	}
	options, err := match.Render(&of)
	if err != nil {
		return nil, err
	}
	return deployment.Made(c.hub.bundle, mc.Name, c.next.files, options)
}

// differences renders both sides, each at most once for all clusters that are alike.
func (c *comparison) differences(ctx context.Context, kubeVersion string, before, after *deployment.Deployment) ([]diff.Change, error) {
	old, oldKey := c.side(ctx, kubeVersion, before)
	now, nowKey := c.side(ctx, kubeVersion, after)
	if old.err != nil {
		return nil, fmt.Errorf("what is deployed: %w", old.err)
	}
	if now.err != nil {
		return nil, now.err
	}
	keys := [2]string{oldKey, nowKey}
	known, ok := c.changes[keys]
	if !ok {
		known.changes, known.err = diff.Compare(old.side, now.side)
		c.changes[keys] = known
	}
	return known.changes, known.err
}

func (c *comparison) side(ctx context.Context, kubeVersion string, d *deployment.Deployment) (sideResult, string) {
	if d == nil {
		return sideResult{}, ""
	}
	key, err := json.Marshal([]any{kubeVersion, d.Object.Spec.Content.Name, d.Object.Spec.Options, d.Values})
	if err != nil {
		return sideResult{err: fmt.Errorf("options of Bundle %s cannot be written as JSON", c.hub.bundle)}, ""
	}
	known, ok := c.sides[string(key)]
	if !ok {
		known.side.Namespace = d.Key().Namespace
		known.side.Objects, known.err = d.Render(ctx, kubeVersion)
		c.sides[string(key)] = known
	}
	return known, string(key)
}
