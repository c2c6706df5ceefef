package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/cli/rights"
)

// again is how long the hub is left alone after a watch that broke.
const again = time.Second

// update is news of a rollout: what it is now, that the hub cannot be reached for the
// moment, or the error that ends the watch.
type update struct {
	rollout   *v1alpha1.Rollout
	lost, err error
}

// follow sends the bundle's Rollout as it is and after every change, until ctx ends
// or the Rollout cannot be read any more. A watch that breaks is taken up again.
func (h *hub) follow(ctx context.Context) <-chan update {
	out := make(chan update)
	send := func(u update) {
		select {
		case out <- u:
		case <-ctx.Done():
		}
	}
	go func() {
		defer close(out)
		seen := false
		for ctx.Err() == nil {
			err := h.watchOnce(ctx, func(r *v1alpha1.Rollout) { seen = true; send(update{rollout: r}) })
			switch {
			case ctx.Err() != nil:
				return
			case err != nil && (!seen || !passing(err)):
				send(update{err: err})
				return
			case err != nil:
				send(update{lost: err})
			}
			select {
			case <-time.After(again):
			case <-ctx.Done():
			}
		}
	}()
	return out
}

// watchOnce reads the Rollout and watches it from there. It ends without an error when
// the API server ends the watch, as it does every few minutes.
func (h *hub) watchOnce(ctx context.Context, see func(*v1alpha1.Rollout)) error {
	r, err := h.rollout(ctx)
	if err != nil {
		return err
	}
	see(r)
	w, err := h.client.Watch(ctx, &v1alpha1.RolloutList{}, &client.ListOptions{
		Namespace:     h.bundle.Namespace,
		FieldSelector: fields.OneTermEqualSelector("metadata.name", h.bundle.Name),
		Raw:           &metav1.ListOptions{ResourceVersion: r.ResourceVersion},
	})
	if err != nil {
		return rights.Missing(fmt.Errorf("watch Rollout %s: %w", h.bundle, err), "watch", "rollouts."+v1alpha1.GroupName, h.bundle.Namespace)
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		switch event.Type {
		case watch.Added, watch.Modified:
			if r, ok := event.Object.(*v1alpha1.Rollout); ok {
				see(r)
			}
		case watch.Deleted:
			return fmt.Errorf("the Rollout %s was deleted: its Bundle is gone", h.bundle)
		case watch.Error:
			if err := apierrors.FromObject(event.Object); !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
				return fmt.Errorf("watch Rollout %s: %w", h.bundle, err)
			}
			return nil
		case watch.Bookmark:
		}
	}
	return nil
}

// passing tells whether an error may be over in a moment: the hub restarts, or the
// network is away.
func passing(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) ||
			apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err)
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
