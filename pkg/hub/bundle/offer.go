package bundle

import (
	"context"
	"errors"

	ctrl "sigs.k8s.io/controller-runtime"

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
	} else if matches, err = target.Select(e.bundle, target.Groups(f.groups), clusters); err != nil {
		return nil, err
	}
	for i := range matches {
		out[matches[i].Cluster] = &matches[i]
	}
	return out, nil
}

// render says what an offer comes to on a cluster that it matches; old is what it came
// to in the last plan.
func (o *offer) render(f *facts, name string, old map[string]rendered) rendered {
	match := o.matches[name]
	from := renderKey{
		edition: o.key, rule: match.Rule, cluster: fingerprint(f.clusters[name]), agentNamespace: f.agentNamespace(name),
	}
	made, ok := old[name]
	if ok && made.from == from {
		return made
	}
	made = rendered{from: from}
	if made.id, made.err = target.DeploymentID(o.packed.name, match.Options); made.err != nil {
		return made
	}
	made.shape, made.err = work.Shape(o.deployment(f, name, made.id))
	return made
}

// deployment of the edition on a cluster that it matches, without what an admission adds.
func (o *offer) deployment(f *facts, name, id string) work.Deployment {
	return work.Deployment{
		Bundle:         f.key(),
		Cluster:        name,
		AgentNamespace: f.agentNamespace(name),
		ID:             id,
		Content:        o.packed.source(),
		Options:        o.matches[name].Options,
		Paused:         f.bundle.Spec.Paused,
	}
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
		made := o.render(f, c.Name, old)
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
	if q.partitions, err = target.Partitions(q.desired.bundle, target.Groups(f.groups), clusters); err != nil {
		q.block(rollout.BundleInvalid, err.Error())
	}
}

func (f *facts) targetCluster(name string) target.Cluster {
	c := f.clusters[name]
	return target.Cluster{Name: name, Labels: c.Labels, Annotations: c.Annotations}
}
