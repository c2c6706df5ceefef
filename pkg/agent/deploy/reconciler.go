package deploy

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/fleet-addon/pkg/agent/fault"
	"open-cluster-management.io/fleet-addon/pkg/agent/health"
	"open-cluster-management.io/fleet-addon/pkg/agent/hub"
	"open-cluster-management.io/fleet-addon/pkg/agent/release"
	"open-cluster-management.io/fleet-addon/pkg/agent/verdict"
	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

const (
	// observeGrace is how long after a start a verdict of readiness stands while
	// the first lists of its objects are not there.
	observeGrace = 30 * time.Second
	// unresolvedCheck is how often kinds are looked for that no event announces.
	unresolvedCheck = 30 * time.Second
)

// Hub is what the reconciler needs of the hub.
type Hub interface {
	State() hub.State
	Content(ctx context.Context, name string) (gz []byte, sum string, err error)
	Wake()
}

// Releases are the Helm releases of the cluster.
type Releases interface {
	Look(ctx context.Context, want release.Want) (release.Deployed, error)
	Ensure(ctx context.Context, want release.Want, load func(context.Context) (*release.Source, error), observe release.Observer) (release.Deployed, error)
	Remove(ctx context.Context, owner release.Owner, key release.Key, observe release.Observer) error
}

// Health watches the objects of releases.
type Health interface {
	Track(owner, namespace string, objects []manifest.Object)
	Look(owner string) health.Summary
	Forget(owner string)
}

// Reconciler reconciles the BundleDeployments of one namespace.
type Reconciler struct {
	// Client reads from the cache and writes; Live reads from the API server.
	Client    client.Client
	Live      client.Reader
	Namespace string
	Hub       Hub
	Releases  Releases
	Health    Health
	Clock     clock.Clock
	Limiter   workqueue.TypedRateLimiter[reconcile.Request]
	// Jitter is the longest random wait before content is fetched from the hub.
	Jitter time.Duration

	index  *index
	memory memory
	queue  queue
	// working counts the passes that work on a release now.
	working atomic.Int32
}

// outcome is what came of bringing a release to what is wanted.
type outcome struct {
	want release.Want
	// deployed is nil if it could not be read.
	deployed *release.Deployed
	err      error
}

// Reconcile looks at one BundleDeployment.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var bd v1alpha1.BundleDeployment
	err := r.Client.Get(ctx, req.NamespacedName, &bd)
	switch {
	case apierrors.IsNotFound(err):
		return fault.Requeue(r.remove(ctx, req.Name))
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("get BundleDeployment %s: %w", req.Name, err)
	case !bd.DeletionTimestamp.IsZero():
		return reconcile.Result{}, nil
	}
	n := r.memory.of(&bd)
	if n.admission != bd.Spec.Admission {
		// A new admission is tried at once, and often again, whatever the last did.
		n.admission = bd.Spec.Admission
		r.Limiter.Forget(req)
	}
	last := n.last(&bd)
	out := r.deploy(ctx, &bd, n, last)
	if out.err != nil && out.deployed == nil && last.Applied && last.Admission == bd.Spec.Admission {
		// What cannot be read has not become worse.
		return fault.Requeue(out.err)
	}
	return r.judge(ctx, &bd, n, last, out)
}

// deploy brings the release to what is wanted, unless something holds it.
func (r *Reconciler) deploy(ctx context.Context, bd *v1alpha1.BundleDeployment, n *note, last v1alpha1.BundleDeploymentStatus) outcome {
	want, refusal := release.WantOf(bd)
	records, err := r.index.records(ctx, bd.Name)
	if err != nil {
		return outcome{want: want, err: err}
	}
	want.Stale = stale(records, want.Key)
	if n.deployed != nil && (n.deployed.Key != want.Key || !confirms(records, *n.deployed)) {
		n.deployed = nil
	}
	if n.deployed != nil && n.deployed.Satisfies(want) {
		return outcome{want: want, deployed: n.deployed}
	}
	// Before the state of the hub is read: whoever counts what is left after that
	// state has changed sees either this pass, or what it has made.
	r.working.Add(1)
	defer r.working.Add(-1)
	hold := held(situation{bd: bd, last: last, hub: r.Hub.State(), refusal: refusal})
	switch {
	case hold != nil && n.deployed != nil:
		return outcome{want: want, deployed: n.deployed, err: hold}
	case hold != nil:
		d, err := r.Releases.Look(ctx, want)
		if err != nil {
			return outcome{want: want, err: err}
		}
		n.see(d)
		if d.Applied(want) {
			hold = nil
		}
		return outcome{want: want, deployed: n.deployed, err: hold}
	}
	d, err := r.Releases.Ensure(ctx, want, func(ctx context.Context) (*release.Source, error) {
		return r.load(ctx, bd, n, want)
	}, countAction)
	if d.Key == (release.Key{}) {
		n.deployed = nil
		return outcome{want: want, err: err}
	}
	n.see(d)
	if err == nil {
		n.content, n.fetched = "", nil
	}
	return outcome{want: want, deployed: n.deployed, err: err}
}

// judge observes the release and writes the verdict.
func (r *Reconciler) judge(ctx context.Context, bd *v1alpha1.BundleDeployment, n *note, last v1alpha1.BundleDeploymentStatus, out outcome) (reconcile.Result, error) {
	now := r.Clock.Now()
	r.track(bd.Name, n, out, now)
	sum := r.Health.Look(bd.Name)
	if sum.Unobserved && last.Ready && last.Admission == bd.Spec.Admission {
		// After a start the watches have to fill before anything can be said. The
		// last of them wakes this up.
		if left := observeGrace - now.Sub(n.trackedSince); left > 0 {
			return reconcile.Result{RequeueAfter: left}, nil
		}
	}
	next, mem, recheck := verdict.Next(last, n.verdict, observe(bd, out, sum), now)
	if err := r.write(ctx, bd, n, last, next); err != nil {
		return reconcile.Result{}, err
	}
	n.verdict = mem
	result, err := fault.Requeue(out.err)
	if err != nil {
		return result, err
	}
	if sum.Unresolved {
		result.RequeueAfter = earlier(result.RequeueAfter, unresolvedCheck)
	}
	result.RequeueAfter = earlier(result.RequeueAfter, recheck)
	return result, nil
}

func (r *Reconciler) track(owner string, n *note, out outcome, now time.Time) {
	if out.deployed == nil || n.tracked == out.deployed.Key && n.trackedRev == out.deployed.Revision {
		return
	}
	n.tracked, n.trackedRev, n.trackedSince = out.deployed.Key, out.deployed.Revision, now
	r.Health.Track(owner, out.deployed.Key.Namespace, out.deployed.Objects)
}

func observe(bd *v1alpha1.BundleDeployment, out outcome, sum health.Summary) verdict.Observation {
	o := verdict.Observation{
		Generation: bd.Generation,
		Admission:  bd.Spec.Admission,
		Objects:    sum.Total,
		NotReady:   sum.NotReady,
		Listed:     sum.Listed,
		Breaks:     sum.Breaks,
		Err:        out.err,
	}
	if bd.Spec.MinSuccessTime != nil {
		o.MinSuccessTime = bd.Spec.MinSuccessTime.Duration
	}
	if d := out.deployed; d != nil && d.Revision > 0 {
		o.DeployedID = d.DeploymentID
		o.Release = fmt.Sprintf("%s:%d", d.Key, d.Revision)
		o.Applied = d.Applied(out.want)
	}
	return o
}

// remove removes the releases of a BundleDeployment that is gone.
func (r *Reconciler) remove(ctx context.Context, name string) error {
	r.memory.forget(name)
	r.Health.Forget(name)
	defer r.Hub.Wake()
	records, err := r.index.records(ctx, name)
	if err != nil || len(records) == 0 {
		return err
	}
	err = r.Live.Get(ctx, types.NamespacedName{Namespace: r.Namespace, Name: name}, &v1alpha1.BundleDeployment{})
	if !apierrors.IsNotFound(err) {
		// Nil: it is there again, and its event is on the way.
		return err
	}
	log := logr.FromContextOrDiscard(ctx)
	if err := mayRemove(r.Hub.State()); err != nil {
		log.Info("release kept", "reason", err.Error())
		return err
	}
	owner := release.Owner{Namespace: r.Namespace, Name: name}
	for _, key := range keys(records) {
		log.Info("remove a release whose BundleDeployment is gone", "release", key.String())
		if err := r.Releases.Remove(ctx, owner, key, countAction); err != nil {
			return err
		}
	}
	return nil
}

// earlier of two waits, of which zero is none.
func earlier(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
