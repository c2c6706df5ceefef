package bundle

import (
	"context"
	"errors"
	"fmt"
	"time"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	workv1 "open-cluster-management.io/api/work/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/hub/content"
	"open-cluster-management.io/fleet-addon/pkg/hub/outcome"
	"open-cluster-management.io/fleet-addon/pkg/hub/placement"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

var (
	bundleKind    = fleet.SchemeGroupVersion.WithKind("Bundle")
	leaseKind     = coordinationv1.SchemeGroupVersion.WithKind("Lease")
	workKind      = schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWork")
	namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")
)

// clusterLease is the lease that every klusterlet renews in its namespace.
const clusterLease = "managed-cluster-lease"

// cacheDelay is how soon to look again for what the cache does not show yet. Its
// events usually come first.
const cacheDelay = 250 * time.Millisecond

// Reconciler is the controller of Bundles.
type Reconciler struct {
	// Reader reads from the cache, Live past it.
	Reader, Live client.Reader
	Writer       client.Client
	Contents     *content.Store
	Placements   *placement.Observer
	Values       clusterValues
	Clock        clock.PassiveClock
	// RemovalGrace is handed to the planner.
	RemovalGrace time.Duration
	// RevisionLimit is how many revisions of a bundle are kept, but for those in use.
	RevisionLimit int
	// Events are told of what happens to a Rollout, Metrics of everything.
	Events  events.EventRecorder
	Metrics *Metrics

	memories  memories
	interests interests
}

// Reconcile plans one bundle and carries out the plan.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	recheck, err := r.reconcile(ctx, req.NamespacedName)
	return outcome.Result(ctx, recheck, err)
}

func (r *Reconciler) reconcile(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	r.interests.begin(key)
	// Not copied, as it can be a megabyte: it is read, never changed.
	b := &fleet.Bundle{}
	err := r.Reader.Get(ctx, key, b, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) || (err == nil && !b.DeletionTimestamp.IsZero()) {
		return 0, r.gone(ctx, key)
	}
	if err != nil {
		return 0, fmt.Errorf("get Bundle %s: %w", key, err)
	}
	m := r.memories.get(key)
	f := &facts{now: r.Clock.Now(), bundle: b}
	if err := r.gatherOwn(ctx, f); err != nil {
		return 0, err
	}
	if !m.sawOwnWrites(f) {
		return cacheDelay, nil
	}
	if err := r.readOwn(ctx, f, m); err != nil {
		return 0, err
	}
	if err := r.readPin(ctx, f, m); err != nil {
		return 0, err
	}
	if err := r.gather(ctx, f); err != nil {
		return 0, err
	}
	q := r.ask(f, m)
	r.offerCompleted(ctx, f, q, m)
	r.interests.settle(key, interestOf(f, q, m))
	m.forgetEditions(f.pin(), q.input.Record.CompletedRevision)
	r.Contents.Need(key, q.contents(f)...)
	plan := r.plan(ctx, f, q, m)
	m.absent = plan.Absent
	if err := r.ensureRollout(ctx, f, m); err != nil {
		return plan.RecheckAfter, err
	}
	if !settling(f, plan) {
		r.Metrics.count(key, plan, q.matched, f.now)
	}
	q.unkept = r.keep(ctx, f, q, m)
	err = errors.Join(q.unkept, r.retain(ctx, f, q, m, plan))
	recheck, carryErr := r.carryThrough(ctx, f, q, m, plan)
	if f.pinTrouble != "" {
		// What is missing may come back, and nobody tells.
		recheck = outcome.Sooner(recheck, editionRetry)
	}
	if q.turn.over {
		// Others come first.
		recheck = outcome.Sooner(recheck, cacheDelay)
	}
	return outcome.Sooner(recheck, m.valuesDue(r.Clock.Now())), errors.Join(err, carryErr)
}

// carryThrough records the plan, carries it out and shows it.
func (r *Reconciler) carryThrough(ctx context.Context, f *facts, q *question, m *memory, plan *rollout.Result) (time.Duration, error) {
	// What a plan admits and removes rests on its record, and so the record goes first.
	rolloutDue, recorded, err := r.writeRollout(ctx, f, q, m, plan)
	if err != nil {
		return plan.RecheckAfter, err
	}
	if !recorded && len(plan.Admit)+len(plan.Remove) > 0 {
		return rolloutDue, nil
	}
	err = r.carryOut(ctx, f, q, m, plan)
	bundleDue, statusErr := r.writeBundle(ctx, f, q, m, plan)
	recheck := outcome.Sooner(plan.RecheckAfter, outcome.Sooner(rolloutDue, bundleDue))
	return recheck, errors.Join(err, statusErr)
}

// plan asks the planner, and once more if it wants leases that were not read.
func (r *Reconciler) plan(ctx context.Context, f *facts, q *question, m *memory) *rollout.Result {
	plan := r.timed(q.input, f.now)
	if len(plan.ReadLeases) > 0 {
		q.leases(r.readLeases(ctx, m, plan.ReadLeases))
		plan = r.timed(q.input, f.now)
	}
	return &plan
}

// timed is one plan, and how long it took.
func (r *Reconciler) timed(in rollout.Input, now time.Time) rollout.Result {
	began := r.Clock.Now()
	plan := rollout.Plan(in, now)
	r.Metrics.planned(r.Clock.Since(began))
	return plan
}
