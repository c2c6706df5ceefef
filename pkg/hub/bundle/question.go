package bundle

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/hub/cluster"
	hubcontent "open-cluster-management.io/fleet-addon/pkg/hub/content"
	"open-cluster-management.io/fleet-addon/pkg/hub/lenient"
	"open-cluster-management.io/fleet-addon/pkg/hub/variables"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/pkg/target"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

// maxErrors of a bundle that one sentence tells.
const maxErrors = 3

// packed is a bundle's content, or why it has none.
type packed struct {
	name string
	gz   []byte
	sum  string
	err  error
}

// source is the content as it stands in a work.
func (p *packed) source() v1alpha1.ContentSource {
	s := v1alpha1.ContentSource{Name: p.name}
	if p.inline() {
		s.Inline = p.gz
	}
	return s
}

func (p *packed) inline() bool { return len(p.gz) <= hubcontent.MaxInline }

func pack(resources []fleet.BundleResource) *packed {
	p := &packed{}
	p.name, p.gz, p.sum, p.err = content.Pack(resources)
	return p
}

// rendered is what a bundle comes to on one cluster, and what it was made from.
type rendered struct {
	from      renderKey
	id, shape string
	err       error
	// own is true where it depends on the cluster.
	own bool
}

// renderKey is all that an id and a shape depend on.
type renderKey struct {
	edition        editionKey
	rule           string
	cluster        uint64
	agentNamespace string
}

// question is what is asked of the planner, with what is needed to carry out its answer.
type question struct {
	input rollout.Input
	// packed are the files that the bundle has now.
	packed *packed
	// own is what the bundle says now; keepable is true if it can be deployed.
	own      *edition
	keepable bool
	// unkept says why the bundle's own edition could not be written down.
	unkept error
	// desired is what is rolled out: the bundle's own edition, or the pinned one.
	desired offer
	// completed is what newcomers to closed groups run meanwhile; without an edition
	// where nobody can or need.
	completed offer
	// turn is how much may be rendered for this plan.
	turn *turn
	// matched is false while nobody can tell which clusters the bundle selects.
	matched bool
	// partitions has the manual partition of each cluster that is in one.
	partitions map[string]int
}

// ask makes the planner's input of the facts.
func (r *Reconciler) ask(f *facts, m *memory) *question {
	q := &question{own: ownEdition(f.bundle, m)}
	q.packed, q.desired.edition = q.own.packed, q.own
	if f.pinned != nil {
		q.desired.edition = f.pinned
	}
	q.input = rollout.Input{
		Bundle:        f.key().String(),
		Revision:      q.desired.revision,
		Pinned:        f.pinned != nil,
		Source:        f.source,
		Pauses:        pauses(f),
		Views:         f.views,
		Confirmations: confirmed(f.rollout),
		Record:        recordOf(f.rollout),
		Absent:        m.absent,
		RemovalGrace:  r.RemovalGrace,
	}
	if (f.pinTrouble != "" || lenient.Unreadable(f.bundle) != "" || q.desired.unknown()) && q.input.Record.Revision != "" {
		// Nobody knows what is wanted: what was rolled out stands.
		q.input.Revision = q.input.Record.Revision
	}
	q.check(f)
	if len(q.input.Blocks) == 0 {
		q.match(f)
	}
	q.turn = newTurn(r.Clock)
	q.render(f, m)
	return q
}

func pauses(f *facts) []string {
	var out []string
	if f.rollout != nil && f.rollout.Spec.Paused {
		out = append(out, "the Rollout")
	}
	if f.bundle.Spec.Paused {
		out = append(out, "the Bundle")
	}
	return out
}

// check finds what keeps the bundle from being planned at all.
func (q *question) check(f *facts) {
	if f.leaving {
		// Its objects go in any order: without its policy the bundle would go everywhere
		// at once, and with keepResources it would stay there.
		q.block(rollout.BundleInvalid, fmt.Sprintf("namespace %s is being deleted: nothing is admitted any more", f.bundle.Namespace))
	}
	if why := lenient.Unreadable(f.bundle); why != "" {
		// The spec is empty here: nothing else can be said of it.
		q.block(rollout.BundleInvalid, why)
		return
	}
	q.keepable = !f.leaving && len(q.own.faults) == 0
	if f.pinTrouble != "" {
		q.block(rollout.RevisionNotFound, f.pinTrouble)
	}
	for _, fault := range q.desired.faults {
		q.block(fault.Reason, fault.Sentence)
	}
	if f.unreadable != "" {
		q.block(rollout.BindingMissing, f.unreadable)
	}
	// With works there is something to remove: a binding that is gone is then an
	// absence like any other, and takes its time.
	if missing := f.reach.Missing(); missing != "" && len(f.works) == 0 {
		q.block(rollout.BindingMissing, missing)
	}
}

// sentenceOf tells the first errors in the order of their paths.
func sentenceOf(errs field.ErrorList) string {
	texts := make([]string, 0, len(errs))
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	if more := len(texts) - maxErrors; more > 0 {
		texts = append(texts[:maxErrors], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}

// match finds the clusters that the bundle selects, and their partitions.
func (q *question) match(f *facts) {
	clusters := make([]target.Cluster, 0, len(f.reached))
	for name := range f.reached {
		clusters = append(clusters, f.targetCluster(name))
	}
	matches, err := match(f, q.desired.edition, f.source.ImplicitTargets, clusters)
	if err != nil {
		q.block(rollout.BundleInvalid, err.Error())
		return
	}
	q.desired.matches, q.matched = matches, true
	q.manualPartitions(f)
}

// block adds a reason why nothing is planned; the first of a kind is the one to tell.
func (q *question) block(reason rollout.Reason, sentence string) {
	for _, b := range q.input.Blocks {
		if b.Reason == reason {
			return
		}
	}
	q.input.Blocks = append(q.input.Blocks, rollout.Hold{Reason: reason, Sentence: sentence})
}

// render says of each cluster what the bundle wants and has there.
func (q *question) render(f *facts, m *memory) {
	m.read(f.works)
	old := m.rendered
	m.rendered = make(map[string]rendered, len(q.desired.matches))
	names := slices.AppendSeq(make([]string, 0, len(f.clusters)), maps.Keys(f.clusters))
	for name := range f.works {
		if f.clusters[name] == nil {
			names = append(names, name)
		}
	}
	// The first of several errors has to be the same one in each plan.
	slices.Sort(names)
	q.input.Clusters = make([]rollout.Cluster, 0, len(names))
	if m.tooLarge != nil && m.tooLarge.key == q.desired.key {
		q.block(rollout.TooLarge, m.tooLarge.text)
	}
	for _, name := range names {
		c := q.clusterOf(f, m, name)
		if q.desired.matches[name] != nil {
			c.Selected = true
			made := q.desired.render(f, name, old, q.turn)
			m.rendered[name] = made
			c.DesiredID, c.DesiredShape = made.id, made.shape
			switch {
			case errors.Is(made.err, work.ErrTooLarge) && !made.own:
				q.block(rollout.TooLarge, made.err.Error())
			case errors.Is(made.err, variables.ErrPending), errors.Is(made.err, errLater):
				c.RenderWaits = made.err.Error()
			case made.err != nil:
				c.RenderError = made.err.Error()
			}
		}
		q.input.Clusters = append(q.input.Clusters, c)
	}
}

// agentNamespace is where the agent of a cluster runs. While its add-on is missing, or
// new and does not say so yet, it is where it was: a work that named another place
// would have the release uninstalled from the old one.
func (f *facts) agentNamespace(name string) string {
	addOn, w := f.addOns[name], f.works[name]
	if w != nil && (addOn == nil || addOn.Status.Namespace == "") {
		if was := work.AgentNamespace(w); was != "" {
			return was
		}
	}
	return cluster.AgentNamespace(addOn)
}

func (q *question) clusterOf(f *facts, m *memory, name string) rollout.Cluster {
	mc := f.clusters[name]
	c := rollout.Cluster{
		Name:        name,
		Exists:      cluster.Exists(mc),
		Unreachable: cluster.Unreachable(mc),
		AddOn:       cluster.AddOnState(f.addOns[name]),
		Unwritten:   m.unwritten[name],
		Partition:   q.partitions[name],
	}
	if mc != nil {
		c.Created = mc.CreationTimestamp.Time
	}
	c.Available, c.AvailableSince = cluster.Available(mc)
	read, ok := m.readings[name]
	switch {
	case !ok:
	case read.err != nil:
		q.block(rollout.WorkRefused, read.err.Error())
	default:
		c.Work = &read.work
	}
	return c
}

// leases puts what was read of leases into the input.
func (q *question) leases(read map[string]string) {
	for i := range q.input.Clusters {
		if version, ok := read[q.input.Clusters[i].Name]; ok {
			q.input.Clusters[i].Lease = version
		}
	}
}
