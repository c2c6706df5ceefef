package placement

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/hub/lenient"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// Observer keeps the views.
type Observer struct {
	reader client.Reader
	settle time.Duration
	clock  clock.PassiveClock
	notify func(bundle types.NamespacedName)

	mu   sync.Mutex
	seen map[types.NamespacedName]*observation
}

type observation struct {
	view *rollout.View
	// bundles that asked for the view, told when the snapshot changes.
	bundles map[types.NamespacedName]bool
}

// New returns an observer that reads from a cache. notify is called, from any
// goroutine, for each bundle whose view has a new snapshot; it must not block.
func New(reader client.Reader, settle time.Duration, clk clock.PassiveClock, notify func(types.NamespacedName)) *Observer {
	return &Observer{
		reader: reader, settle: settle, clock: clk, notify: notify,
		seen: map[types.NamespacedName]*observation{},
	}
}

// Look returns what is known of a Placement, and from then on tells the bundle
// when that changes. A view is made on events only: what time alone changes in it
// is a matter of when it is asked.
func (o *Observer) Look(ctx context.Context, bundle, placement types.NamespacedName) (*rollout.View, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	obs := o.seen[placement]
	if obs == nil {
		snapshot, err := Read(ctx, o.reader, placement)
		if err != nil {
			return nil, err
		}
		obs = &observation{
			view:    rollout.Observe(nil, snapshot, o.settle, o.clock.Now()),
			bundles: map[types.NamespacedName]bool{},
		}
		o.seen[placement] = obs
	}
	obs.bundles[bundle] = true
	return obs.view, nil
}

// Forget drops a bundle that is gone or no longer follows a Placement: keep names
// those that it still follows.
func (o *Observer) Forget(bundle types.NamespacedName, keep map[types.NamespacedName]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for placement, obs := range o.seen {
		if keep[placement] {
			continue
		}
		delete(obs.bundles, bundle)
		if len(obs.bundles) == 0 {
			delete(o.seen, placement)
		}
	}
}

// refresh takes a new snapshot of a Placement that somebody follows.
func (o *Observer) refresh(ctx context.Context, placement types.NamespacedName) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	obs := o.seen[placement]
	if obs == nil {
		return nil
	}
	snapshot, err := Read(ctx, o.reader, placement)
	if err != nil {
		return err
	}
	if reflect.DeepEqual(snapshot, obs.view.Snapshot) {
		return nil
	}
	obs.view = rollout.Observe(obs.view, snapshot, o.settle, o.clock.Now())
	for bundle := range obs.bundles {
		o.notify(bundle)
	}
	return nil
}

// Read takes a snapshot of a Placement and its decisions, from a cache or live.
func Read(ctx context.Context, reader client.Reader, key types.NamespacedName) (rollout.Snapshot, error) {
	placement := &clusterv1beta1.Placement{}
	err := reader.Get(ctx, key, placement)
	if apierrors.IsNotFound(err) {
		return rollout.NewSnapshot(nil, nil), nil
	}
	if err != nil {
		return rollout.Snapshot{}, fmt.Errorf("get Placement %s: %w", key, err)
	}
	if why := lenient.Unreadable(placement); why != "" {
		return rollout.Snapshot{Found: true, Inconsistent: "the Placement cannot be read: " + why}, nil
	}
	var list clusterv1beta1.PlacementDecisionList
	if err := reader.List(ctx, &list, client.InNamespace(key.Namespace),
		client.MatchingLabels{clusterv1beta1.PlacementLabel: key.Name}); err != nil {
		return rollout.Snapshot{}, fmt.Errorf("list PlacementDecisions of Placement %s: %w", key, err)
	}
	decisions := make([]*clusterv1beta1.PlacementDecision, 0, len(list.Items))
	for i := range list.Items {
		decisions = append(decisions, &list.Items[i])
	}
	return rollout.NewSnapshot(placement, decisions), nil
}

// Key reads "namespace/name" as LaneSpec.Placement has it.
func Key(s string) (types.NamespacedName, error) {
	namespace, name, ok := strings.Cut(s, "/")
	if !ok || namespace == "" || name == "" {
		return types.NamespacedName{}, fmt.Errorf("placement %q: want namespace/name", s)
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}
