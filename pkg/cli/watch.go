package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// watchStatus shows a rollout until it is complete or stopped by failures, until
// timeout, or until ctx ends; with the exit status of that moment.
func watchStatus(ctx context.Context, h *hub, streams genericclioptions.IOStreams, timeout time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := watching{view: newView(streams.Out), streams: streams, timeout: timeout}
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		w.deadline = timer.C
	}
	// The time that is left goes on while nothing happens.
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	return w.run(ctx, h.follow(ctx), tick.C)
}

// watching is one `status --watch`.
type watching struct {
	view     view
	streams  genericclioptions.IOStreams
	timeout  time.Duration
	deadline <-chan time.Time
	last     *v1alpha1.Rollout
	lost     bool
}

// errEnded is what a watch ends with that never saw the rollout.
var errEnded = errors.New("ended before the Rollout was read")

func (w *watching) run(ctx context.Context, updates <-chan update, tick <-chan time.Time) error {
	for {
		select {
		case <-ctx.Done():
			return w.present()
		case <-w.deadline:
			if w.last != nil {
				fmt.Fprintf(w.streams.ErrOut, "not complete after %s: %s: %s\n", w.timeout, w.last.Status.Reason, w.last.Status.Message)
			}
			return w.present()
		case u, more := <-updates:
			if !more {
				return w.present()
			}
			if over, err := w.take(u); over {
				return err
			}
		case now := <-tick:
			if w.last != nil && !w.lost {
				w.view.tick(w.last, now)
			}
		}
	}
}

// take shows news; over is true once there will be none.
func (w *watching) take(u update) (over bool, err error) {
	switch {
	case u.err != nil:
		return true, u.err
	case u.lost != nil:
		if !w.lost {
			w.view.leave()
			fmt.Fprintf(w.streams.ErrOut, "the hub cannot be reached, trying again: %v\n", u.lost)
		}
		w.lost = true
		return false, nil
	}
	w.last, w.lost = u.rollout, false
	w.view.show(w.last, time.Now())
	err = outcome(w.last)
	return !errors.Is(err, exitUnderWay), err
}

// present is the exit status of what was seen last.
func (w *watching) present() error {
	if w.last == nil {
		return errEnded
	}
	return outcome(w.last)
}
