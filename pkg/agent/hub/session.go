package hub

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

const (
	fieldManager = "fleet-agent"
	// drainCheck is how often what is left is counted while the add-on goes, beside
	// every change of a bundle.
	drainCheck = 5 * time.Second
	// idle is how long a report without news is good for.
	idle = 10 * time.Minute
	// maxBackoff of reports that fail.
	maxBackoff = time.Minute
)

// reporter is the report of one session.
type reporter struct {
	*Hub
	client  dynamic.Interface
	store   cache.Store
	backoff wait.Backoff
	// last is the answer to the last report: the cache may be behind it.
	last     *unstructured.Unstructured
	reported time.Time
}

// session watches the ManagedClusterAddOn and reports on it until ctx ends.
func (h *Hub) session(ctx context.Context, client dynamic.Interface) {
	informer := dynamicinformer.NewFilteredDynamicInformer(client, addOns, h.Cluster, 0, cache.Indexers{}, func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector("metadata.name", v1alpha1.AddOnName).String()
	}).Informer()
	_ = informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, _ *cache.Reflector, err error) {
		logr.FromContextOrDiscard(ctx).Info("cannot watch the ManagedClusterAddOn, trying again", "error", err.Error())
	})
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { h.observe(asObject(o)) },
		UpdateFunc: func(_, o any) { h.observe(asObject(o)) },
		DeleteFunc: func(any) { h.observe(nil) },
	})
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return
	}
	if len(informer.GetStore().List()) == 0 {
		h.observe(nil)
	}
	r := &reporter{Hub: h, client: client, store: informer.GetStore(), backoff: newBackoff()}
	r.loop(ctx)
}

func newBackoff() wait.Backoff {
	return wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.5, Steps: 16, Cap: maxBackoff}
}

func asObject(o any) *unstructured.Unstructured {
	u, _ := o.(*unstructured.Unstructured)
	return u
}

func (r *reporter) loop(ctx context.Context) {
	for ctx.Err() == nil {
		after := r.report(ctx)
		if after == 0 {
			after = idle
		}
		timer := r.Clock.NewTimer(after)
		select {
		case <-ctx.Done():
		case <-r.wake:
		case <-timer.C():
		}
		timer.Stop()
	}
}

// report writes the conditions if they changed and it is time. It returns after
// how long to look again without an event; zero if nothing is due.
func (r *reporter) report(ctx context.Context) time.Duration {
	log := logr.FromContextOrDiscard(ctx)
	addOn := r.newest()
	if addOn == nil {
		return 0
	}
	bundles, err := r.Local.Bundles(ctx)
	if err != nil {
		log.Error(err, "bundles cannot be listed")
		return r.backoff.Step()
	}
	var left *Left
	var after time.Duration
	if addOn.GetDeletionTimestamp() != nil {
		if !r.State().Deleting {
			// The workers do not know it yet: one of them may still install. The
			// event that tells them wakes this too.
			return drainCheck
		}
		after = drainCheck
		left = &Left{}
		if left.Bundles, left.Releases, err = r.Local.Left(ctx); err != nil {
			log.Error(err, "what is left cannot be counted")
			return r.backoff.Step()
		}
	}
	now := r.Clock.Now()
	before := conditionsOf(addOn)
	want := Conditions(bundles, left, before, now)
	if same(want, before) {
		return after
	}
	if due := r.reported.Add(r.Interval); now.Before(due) && !drainChanged(want, before) {
		if wait := due.Sub(now); after == 0 || wait < after {
			after = wait
		}
		return after
	}
	if err := r.apply(ctx, want); err != nil {
		log.Error(err, "the ManagedClusterAddOn cannot be reported on")
		return r.backoff.Step()
	}
	r.backoff, r.reported = newBackoff(), now
	return after
}

// newest is the ManagedClusterAddOn as the cache has it, or as the last report
// left it if that is newer.
func (r *reporter) newest() *unstructured.Unstructured {
	obj, ok, err := r.store.GetByKey(r.Cluster + "/" + v1alpha1.AddOnName)
	if err != nil || !ok {
		return nil
	}
	cached := asObject(obj)
	if r.last == nil || cached == nil || r.last.GetUID() != cached.GetUID() {
		return cached
	}
	c, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), r.last.GetResourceVersion())
	if err == nil && c < 0 {
		return r.last
	}
	return cached
}

func (r *reporter) apply(ctx context.Context, want []metav1.Condition) error {
	var list []any
	for i := range want {
		c, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&want[i])
		if err != nil {
			return err
		}
		list = append(list, c)
	}
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": addOns.GroupVersion().String(),
		"kind":       "ManagedClusterAddOn",
		"metadata":   map[string]any{"name": v1alpha1.AddOnName, "namespace": r.Cluster},
		"status":     map[string]any{"conditions": list},
	}}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	answer, err := r.client.Resource(addOns).Namespace(r.Cluster).ApplyStatus(ctx, v1alpha1.AddOnName, obj,
		metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	if err != nil {
		return err
	}
	r.last = answer
	return nil
}

func conditionsOf(u *unstructured.Unstructured) []metav1.Condition {
	var addOn struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	// What does not fit the API is as good as missing: it is written anew.
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &addOn); err != nil {
		return nil
	}
	return addOn.Status.Conditions
}
