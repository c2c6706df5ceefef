package bundle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/cluster"
	"open-cluster-management.io/fleet-addon/pkg/hub/outcome"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

const (
	// writers is how many works of one bundle are written at the same time.
	writers = 10
	// stampChunk is how many stamps one plan has written at most; the rest come with
	// the next plan, which is not far.
	stampChunk = 200
	// leaseInterval is the least time between two live reads of one lease.
	leaseInterval = time.Second
)

// carrying is one plan being carried out.
type carrying struct {
	*Reconciler
	facts    *facts
	question *question
	memory   *memory
	// mu guards memory and errs against the writers.
	mu   sync.Mutex
	errs []error
	// unsupplied are the offers whose files or record are not in the API.
	unsupplied map[*offer]bool
}

// carryOut does what the plan says. The plan is never adapted: what cannot be
// written now is left to the next one.
func (r *Reconciler) carryOut(ctx context.Context, f *facts, q *question, m *memory, plan *rollout.Result) error {
	c := &carrying{Reconciler: r, facts: f, question: q, memory: m, unsupplied: map[*offer]bool{}}
	m.unwritten = nil
	c.remove(ctx, plan.Remove)
	// Without its files an edition is not written; what was seen is stamped all the same.
	admits := c.supplied(ctx, plan)
	c.each(ctx, len(admits), func(i int) error { return c.noted(admits[i].Cluster, c.admit(ctx, admits[i])) })
	if !c.unsupplied[&q.desired] {
		c.each(ctx, len(plan.Refresh), func(i int) error { return c.refresh(ctx, plan.Refresh[i]) })
	}
	c.each(ctx, min(len(plan.Stamp), stampChunk), func(i int) error { return c.stamp(ctx, plan.Stamp[i]) })
	return errors.Join(c.errs...)
}

// supplied returns the admissions of editions whose files are there for the agents and,
// of the bundle's own, that are kept: what a cluster runs can be gone back to.
func (c *carrying) supplied(ctx context.Context, plan *rollout.Result) []rollout.Admit {
	why := map[*offer]error{}
	for _, o := range []*offer{&c.question.desired, &c.question.completed} {
		if o.edition == nil {
			continue
		}
		err := c.supply(ctx, o, plan)
		if err != nil {
			c.unsupplied[o] = true
			c.errs = append(c.errs, err)
		}
		if o.revision == c.question.own.revision {
			// Its error is told by who wanted to keep it.
			err = cmp.Or(err, c.question.unkept)
		}
		why[o] = err
	}
	var out []rollout.Admit
	for _, a := range plan.Admit {
		if err := why[c.question.offerOf(a.Revision)]; err != nil {
			c.memory.notWritten(a.Cluster, err)
			continue
		}
		out = append(out, a)
	}
	return out
}

func (c *carrying) supply(ctx context.Context, o *offer, plan *rollout.Result) error {
	if !c.question.needsContent(c.facts, o, plan) {
		return nil
	}
	return c.Contents.Ensure(ctx, o.packed.name, o.packed.gz, o.packed.sum)
}

// noted keeps why a cluster was not admitted for the next plan to tell.
func (c *carrying) noted(cluster string, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.memory.notWritten(cluster, err)
	return err
}

// needsContent tells whether a work that the plan writes, or one that is there,
// needs the offer's content in the API.
func (q *question) needsContent(f *facts, o *offer, plan *rollout.Result) bool {
	if o.packed.err != nil || o.packed.inline() {
		return false
	}
	if o == &q.desired && len(plan.Refresh) > 0 {
		return true
	}
	for i := range plan.Admit {
		if q.offerOf(plan.Admit[i].Revision) == o {
			return true
		}
	}
	for _, w := range f.works {
		if strings.HasPrefix(w.Annotations[v1alpha1.AnnotationID], o.packed.name+":") {
			return true
		}
	}
	return false
}

// each calls do for 0 to n-1, several at a time, started in order. An error of one
// cluster does not keep the others from being written.
func (c *carrying) each(ctx context.Context, n int, do func(int) error) {
	var group errgroup.Group
	group.SetLimit(writers)
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			if err := do(i); err != nil {
				c.mu.Lock()
				c.errs = append(c.errs, err)
				c.mu.Unlock()
			}
			return nil
		})
	}
	_ = group.Wait() // do's errors are in errs
}

func (c *carrying) admit(ctx context.Context, a rollout.Admit) error {
	offer := c.question.offerOf(a.Revision)
	d, err := offer.deployment(c.facts, a.Cluster, a.ID)
	if err != nil {
		return err
	}
	token, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make an admission token: %w", err)
	}
	d.Revision, d.Admission = a.Revision, token.String()
	d.Place, d.MinSuccessTime, d.Stamps = a.Place, a.MinSuccessTime, a.Stamps
	ctrl.LoggerFrom(ctx).Info("Admitting cluster", "cluster", a.Cluster, "lane", a.Place.Lane, "group", a.Place.Name,
		"revision", a.Revision, "admission", d.Admission)
	return c.write(ctx, offer, d)
}

func (c *carrying) refresh(ctx context.Context, a rollout.Refresh) error {
	w := c.memory.readings[a.Cluster].work
	offer := &c.question.desired
	d, err := offer.deployment(c.facts, a.Cluster, w.ID)
	if err != nil {
		return err
	}
	d.Revision, d.Admission = w.Revision, w.Admission
	d.Place, d.MinSuccessTime, d.Stamps = a.Place, a.MinSuccessTime, a.Stamps
	ctrl.LoggerFrom(ctx).Info("Refreshing work", "cluster", a.Cluster, "admission", d.Admission)
	return c.write(ctx, offer, d)
}

// write creates a work or updates the one that the plan has seen.
func (c *carrying) write(ctx context.Context, o *offer, d work.Deployment) error {
	if cluster.AddOnState(c.facts.addOns[d.Cluster]) == rollout.AddOnDeleting {
		return nil
	}
	d.AddOnReady = cluster.ReadyToken(c.facts.addOns[d.Cluster])
	w, err := work.Build(d)
	if errors.Is(err, work.ErrTooLarge) && o == &c.question.desired {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.memory.tooLarge = &refusal{key: o.key, text: err.Error()}
		return outcome.Wait(time.Millisecond, "%s", err.Error())
	}
	if err != nil {
		return outcome.Terminal(err)
	}
	old := c.facts.works[d.Cluster]
	if old == nil {
		return c.create(ctx, w)
	}
	body, err := work.UpdatePatch(w, old.ResourceVersion)
	if err != nil {
		return outcome.Terminal(err)
	}
	return c.patch(ctx, old, body)
}

func (c *carrying) create(ctx context.Context, w *workv1.ManifestWork) error {
	err := c.Writer.Create(ctx, w)
	switch {
	case apierrors.IsAlreadyExists(err):
		return c.foreign(ctx, w)
	case err != nil:
		return fmt.Errorf("create ManifestWork %s/%s: %w", w.Namespace, w.Name, err)
	}
	c.wrote(w.Namespace, "", w.ResourceVersion)
	return nil
}

// foreign tells a work that the cache does not show yet from one that it never
// will, because it has lost its label or never had it.
func (c *carrying) foreign(ctx context.Context, w *workv1.ManifestWork) error {
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(workKind)
	if err := c.Live.Get(ctx, client.ObjectKeyFromObject(w), live); err != nil {
		return fmt.Errorf("get ManifestWork %s/%s live: %w", w.Namespace, w.Name, err)
	}
	if live.Labels[v1alpha1.LabelBundle] != "" && live.Annotations[v1alpha1.AnnotationBundle] == w.Annotations[v1alpha1.AnnotationBundle] {
		return outcome.Wait(cacheDelay, "the cache does not show ManifestWork %s/%s", w.Namespace, w.Name)
	}
	return fmt.Errorf("ManifestWork %s/%s is in the way: its label %s or annotation %s is not what this bundle writes; delete it",
		w.Namespace, w.Name, v1alpha1.LabelBundle, v1alpha1.AnnotationBundle)
}

func (c *carrying) stamp(ctx context.Context, s rollout.Stamp) error {
	old := c.facts.works[s.Cluster]
	body, err := work.StampPatch(s.Stamps, old.ResourceVersion)
	if err != nil {
		return outcome.Terminal(err)
	}
	return c.patch(ctx, old, body)
}

// patch carries the version that the plan has seen: a stale cache and a second
// leader get a conflict, and no stamp is lost.
func (c *carrying) patch(ctx context.Context, old *workv1.ManifestWork, body []byte) error {
	w := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: old.Namespace, Name: old.Name}}
	if err := c.Writer.Patch(ctx, w, client.RawPatch(types.MergePatchType, body)); err != nil {
		return fmt.Errorf("patch ManifestWork %s/%s: %w", old.Namespace, old.Name, err)
	}
	c.wrote(old.Namespace, old.ResourceVersion, w.ResourceVersion)
	if !w.DeletionTimestamp.IsZero() {
		// The API server took it and nobody will apply it. It is planned again once
		// the work is gone.
		return outcome.Wait(time.Second, "ManifestWork %s/%s is being deleted", old.Namespace, old.Name)
	}
	return nil
}

func (c *carrying) wrote(cluster, replaced, version string) {
	if replaced == version {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.memory.works.add(cluster, replaced, c.Clock.Now())
}

// remove deletes works after live reads have confirmed that nothing has changed
// since the plan.
func (c *carrying) remove(ctx context.Context, removes []rollout.Remove) {
	if len(removes) == 0 {
		return
	}
	check := c.confirmation(ctx, removes)
	c.each(ctx, len(removes), func(i int) error {
		if err := check.cluster(ctx, removes[i]); err != nil {
			return err
		}
		w := c.facts.works[removes[i].Cluster]
		ctrl.LoggerFrom(ctx).Info("Removing work", "cluster", removes[i].Cluster, "why", removes[i].Why)
		if err := deleteWork(ctx, c.Writer, w); err != nil {
			return err
		}
		c.wrote(w.Namespace, w.ResourceVersion, "")
		return nil
	})
}

// deleteWork deletes the work that was read, and no later state of it.
func deleteWork(ctx context.Context, writer client.Writer, w *workv1.ManifestWork) error {
	err := writer.Delete(ctx, &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name}},
		client.Preconditions{UID: &w.UID, ResourceVersion: &w.ResourceVersion})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete ManifestWork %s/%s: %w", w.Namespace, w.Name, err)
	}
	return nil
}

// ownerOf is what a Rollout says of the Bundle that it goes with.
func ownerOf(f *facts) metav1.OwnerReference {
	no := false
	return metav1.OwnerReference{
		APIVersion: bundleKind.GroupVersion().String(), Kind: bundleKind.Kind,
		Name: f.bundle.Name, UID: f.bundle.UID, BlockOwnerDeletion: &no,
	}
}

// ensureRollout creates the Rollout, or makes one of an earlier Bundle of the same
// name this one's.
func (r *Reconciler) ensureRollout(ctx context.Context, f *facts, m *memory) error {
	owner := ownerOf(f)
	if f.rollout == nil {
		ro := &v1alpha1.Rollout{ObjectMeta: metav1.ObjectMeta{
			Namespace: f.bundle.Namespace, Name: f.bundle.Name, OwnerReferences: []metav1.OwnerReference{owner},
		}}
		if err := r.Writer.Create(ctx, ro); err != nil {
			return fmt.Errorf("create Rollout %s: %w", f.key(), err)
		}
		m.rollout.add("", "", r.Clock.Now())
		f.rollout = ro
		return nil
	}
	owners := f.rollout.OwnerReferences
	for i := range owners {
		if owners[i].Kind == owner.Kind && owners[i].Name == owner.Name && owners[i].UID == owner.UID {
			return nil
		}
	}
	before := f.rollout.DeepCopy()
	f.rollout.OwnerReferences = []metav1.OwnerReference{owner}
	if err := r.Writer.Patch(ctx, f.rollout, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("patch Rollout %s: %w", f.key(), err)
	}
	m.rollout.add("", before.ResourceVersion, r.Clock.Now())
	return nil
}

// readLeases reads the leases that the planner asks for, live and each at most
// once a second. A lease that cannot be read says nothing: the cluster waits.
func (r *Reconciler) readLeases(ctx context.Context, m *memory, names []string) map[string]string {
	now := r.Clock.Now()
	out := make(map[string]string, len(names))
	kept := make(map[string]lease, len(names))
	for _, name := range names {
		l, ok := m.leases[name]
		if !ok || now.Sub(l.at) >= leaseInterval {
			version, err := r.readLease(ctx, name)
			if err != nil {
				ctrl.LoggerFrom(ctx).Error(err, "Cannot read the lease of a cluster, which goes on waiting")
				continue
			}
			l = lease{version: version, at: now}
		}
		kept[name] = l
		out[name] = l.version
	}
	m.leases = kept
	return out
}

func (r *Reconciler) readLease(ctx context.Context, name string) (string, error) {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(leaseKind)
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: name, Name: clusterLease}, object)
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("get Lease %s/%s: %w", name, clusterLease, err)
	}
	return object.ResourceVersion, nil
}
