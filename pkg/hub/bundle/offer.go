package bundle

import (
	"context"
	"errors"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/fleet-addon/pkg/hub/cluster"
	"open-cluster-management.io/fleet-addon/pkg/hub/outcome"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/pkg/target"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

// offer is an edition with what it comes to on clusters.
type offer struct {
	// edition is nil where there is none to be had.
	*edition
	matches map[string]*target.Match
}

// offerOf returns the offer of a revision that a plan admits.
func (q *question) offerOf(revision string) *offer {
	if q.completed.edition != nil && revision == q.completed.revision && revision != q.input.Revision {
		return &q.completed
	}
	return &q.desired
}

// match finds the clusters that an edition selects. With implicit targets it is all of
// them: which of the decided ones count is the planner's to say.
func match(f *facts, e *edition, implicit bool, clusters []target.Cluster) (map[string]*target.Match, error) {
	var matches []target.Match
	var err error
	out := make(map[string]*target.Match, len(clusters))
	if implicit {
		matches = target.SelectAll(e.bundle, clusters)
	} else if matches, err = target.Select(e.bundle, f.groups, clusters); err != nil {
		return nil, err
	}
	for i := range matches {
		out[matches[i].Cluster] = &matches[i]
	}
	return out, nil
}

// render says what an offer comes to on a cluster that it matches; old is what it came
// to in the last plan. What was rendered is not kept, as on each of thousands of
// clusters it can be another one: an admission renders it again.
func (o *offer) render(f *facts, name string, old map[string]rendered, t *turn) rendered {
	match := o.matches[name]
	uses := match.Uses()
	c := f.clusterFor(name, uses)
	from := renderKey{
		edition: o.key, rule: match.Rule, cluster: uses.Fingerprint(&c), agentNamespace: f.agentNamespace(name),
	}
	made, ok := old[name]
	if ok && made.from == from {
		return made
	}
	if !t.take() {
		// Made from nothing, so that it does not stand.
		return rendered{err: errLater}
	}
	made = rendered{from: from, own: !uses.None()}
	d, err := o.deploymentOn(f, &c)
	if err != nil {
		made.err = err
		return made
	}
	made.id = d.ID
	made.shape, made.err = work.Shape(d)
	return made
}

// deployment is what a plan admits or refreshes on a cluster, without what an admission
// adds. It is rendered again.
func (o *offer) deployment(f *facts, name, id string) (work.Deployment, error) {
	match := o.matches[name]
	if match == nil {
		return work.Deployment{}, outcome.Terminal(fmt.Errorf("cluster %s: planned without options", name))
	}
	c := f.clusterFor(name, match.Uses())
	d, err := o.deploymentOn(f, &c)
	if err != nil {
		return work.Deployment{}, outcome.Terminal(err)
	}
	if d.ID != id {
		return work.Deployment{}, changed("what the bundle says on cluster %s", name)
	}
	return d, nil
}

// deploymentOn renders the edition for a cluster.
func (o *offer) deploymentOn(f *facts, c *target.Cluster) (work.Deployment, error) {
	options, err := o.matches[c.Name].Render(c)
	if err != nil {
		return work.Deployment{}, err
	}
	id, err := target.DeploymentID(o.packed.name, options)
	if err != nil {
		return work.Deployment{}, err
	}
	return work.Deployment{
		Bundle:         f.key(),
		Cluster:        c.Name,
		AgentNamespace: f.agentNamespace(c.Name),
		ID:             id,
		Content:        o.packed.source(),
		Options:        options,
		Paused:         f.bundle.Spec.Paused,
	}, nil
}

// offerCompleted says of clusters without a work what the last completed revision comes
// to there: they run it while their group is closed. Nothing that is wrong with that
// revision stops the bundle: such clusters then wait.
func (r *Reconciler) offerCompleted(ctx context.Context, f *facts, q *question, m *memory) {
	old := m.completed
	m.completed = nil
	hash := q.input.Record.CompletedRevision
	newcomers := q.newcomers(f)
	if hash == "" || hash == q.input.Revision || len(q.input.Blocks) > 0 || len(newcomers) == 0 {
		return
	}
	e, err := r.edition(ctx, f, m, hash)
	if err == nil && len(e.faults) > 0 {
		err = errors.New(e.faults[0].Sentence)
	}
	o := offer{edition: e}
	if err == nil {
		o.matches, err = match(f, e, f.resolve(e.bundle).ImplicitTargets, newcomers)
	}
	if m.tell(hash, err) {
		ctrl.LoggerFrom(ctx).Error(err, "Cannot give new clusters the last completed revision; they wait for their group", "revision", hash)
	}
	if err != nil {
		return
	}
	q.completed, m.completed = o, make(map[string]rendered, len(o.matches))
	for i := range q.input.Clusters {
		c := &q.input.Clusters[i]
		if o.matches[c.Name] == nil {
			continue
		}
		made := o.render(f, c.Name, old, q.turn)
		m.completed[c.Name] = made
		if made.err == nil {
			c.CompletedID = made.id
		}
	}
}

// newcomers are the selected clusters that have no work.
func (q *question) newcomers(f *facts) []target.Cluster {
	var out []target.Cluster
	for i := range q.input.Clusters {
		if c := &q.input.Clusters[i]; c.Selected && c.Exists && c.Work == nil && f.works[c.Name] == nil {
			out = append(out, f.targetCluster(c.Name))
		}
	}
	return out
}

// tell notes what is wrong with a completed revision, and tells whether that is news.
func (m *memory) tell(hash string, err error) bool {
	text := ""
	if err != nil {
		text = hash + ": " + err.Error()
	}
	news := text != "" && text != m.told
	m.told = text
	return news
}

// manualPartitions finds the partitions of the clusters, where the source has any.
func (q *question) manualPartitions(f *facts) {
	manual := false
	for i := range f.source.Lanes {
		manual = manual || f.source.Lanes[i].Partitions != nil && len(f.source.Lanes[i].Partitions.Manual) > 0
	}
	if !manual {
		return
	}
	clusters := make([]target.Cluster, 0, len(f.clusters))
	for name := range f.clusters {
		clusters = append(clusters, f.targetCluster(name))
	}
	var err error
	if q.partitions, err = target.Partitions(q.desired.bundle, f.groups, clusters); err != nil {
		q.block(rollout.BundleInvalid, err.Error())
	}
}

// targetCluster is a cluster as targets see it.
func (f *facts) targetCluster(name string) target.Cluster {
	c := f.clusters[name]
	return target.Cluster{Name: name, Labels: c.Labels, Annotations: c.Annotations}
}

// clusterFor is a cluster as options see it that use so much of it. What costs something
// to find is left out where it is not used.
func (f *facts) clusterFor(name string, uses target.Uses) target.Cluster {
	c := f.targetCluster(name)
	if !uses.Claims.None() {
		c.Claims = cluster.Claims(f.clusters[name])
	}
	if !uses.Values.None() && f.values != nil {
		c.Values, c.ValuesError = f.values(name)
	}
	return c
}
