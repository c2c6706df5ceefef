package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Manager is the field manager of what is written: its labels are taken away when they
// are gone from the files, and those of others stay.
const Manager = "fleetctl-apply"

// bundles and secrets are how rights name the two kinds.
const (
	bundles = "bundles.fleet.cattle.io"
	secrets = "secrets"
)

// Change is what became of a Bundle.
type Change string

// What can become of a Bundle.
const (
	Created    Change = "created"
	Configured Change = "configured"
	Unchanged  Change = "unchanged"
	Deleted    Change = "deleted"
)

// Publisher writes Bundles.
type Publisher struct {
	Client client.Client
	// Progress gets a line for each Bundle.
	Progress io.Writer
	// Owner is the name that begins those of the bundles: the label
	// fleet.cattle.io/repo-name says it. Bundles of others are not touched.
	Owner string
	// Tries of one Bundle while others change it too, and how many are written at a time;
	// less than one counts as one.
	Tries, Parallel int

	mu sync.Mutex
}

// Publish writes all bundles, which are the publisher's own then. One that cannot be
// written does not keep the others from it; the error tells of all of them.
func (p *Publisher) Publish(ctx context.Context, list []*fleet.Bundle) error {
	errs := make([]error, len(list))
	var group errgroup.Group
	group.SetLimit(max(1, p.Parallel))
	for i, b := range list {
		group.Go(func() error {
			errs[i] = p.publish(ctx, b)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return errors.Join(errs...)
}

// publish writes a Bundle and its values, anew if somebody else was faster.
func (p *Publisher) publish(ctx context.Context, b *fleet.Bundle) error {
	w, err := newWriting(p, b)
	if err != nil {
		return err
	}
	// Somebody who writes the same Bundle is done in a moment, or writes it all the time.
	pause := wait.Backoff{Duration: 50 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: max(1, p.Tries)}
	var conflict error
	err = wait.ExponentialBackoffWithContext(ctx, pause, func(ctx context.Context) (bool, error) {
		err := w.once(ctx)
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			conflict = err
			return false, nil
		}
		return true, err
	})
	switch {
	case wait.Interrupted(err) && ctx.Err() == nil:
		return fmt.Errorf("bundle %s: somebody else changes it at the same time; apply again (%w)", w.key, conflict)
	case err != nil:
		return err
	}
	p.tell(w.key, w.change)
	return nil
}

func (p *Publisher) tell(bundle client.ObjectKey, change Change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.Progress, "Bundle %s %s\n", bundle, change)
}
