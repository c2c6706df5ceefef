// Package outcome sorts the errors of a reconcile into three kinds, terminal,
// waiting and retry, and turns each into a requeue. Nothing else decides when a
// controller looks again.
package outcome

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// conflictDelay is long enough for the cache to see the write that won.
const conflictDelay = 200 * time.Millisecond

// retryDelay is used where a back-off would put off what is due earlier.
const retryDelay = 10 * time.Second

// waiting is something that will change without our doing.
type waiting struct {
	after time.Duration
	why   string
}

func (w *waiting) Error() string { return fmt.Sprintf("waiting %s: %s", w.after, w.why) }

// Wait is an error for what is expected to change by itself: look again then.
func Wait(after time.Duration, format string, args ...any) error {
	return &waiting{after: after, why: fmt.Sprintf(format, args...)}
}

// Terminal is an error that no retry can cure; only a change of the object can.
func Terminal(err error) error { return reconcile.TerminalError(err) }

// Result turns what a reconcile found into a requeue. recheck is when time alone
// changes something, 0 if it never does. Conflicts are waited out: somebody else
// wrote first and the cache will show it. Nothing hides anything else: a terminal
// error among others is only logged, and an error that is retried does not put off
// what time alone would change.
func Result(ctx context.Context, recheck time.Duration, err error) (ctrl.Result, error) {
	if ctx.Err() != nil {
		// The manager stops; what failed because of that is no failure.
		return ctrl.Result{}, nil
	}
	var k kinds
	k.sort(err)
	recheck = Sooner(recheck, k.wait)
	switch retry, terminal := errors.Join(k.retry...), errors.Join(k.terminal...); {
	case retry == nil && terminal == nil:
		return ctrl.Result{RequeueAfter: recheck}, nil
	case recheck <= 0 && retry == nil:
		return ctrl.Result{}, reconcile.TerminalError(terminal)
	case recheck <= 0:
		return ctrl.Result{}, errors.Join(retry, plain(terminal))
	default:
		ctrl.LoggerFrom(ctx).Error(errors.Join(retry, terminal), "Reconcile failed")
		if retry != nil {
			recheck = Sooner(recheck, retryDelay)
		}
		return ctrl.Result{RequeueAfter: recheck}, nil
	}
}

// Waits tells whether an error, if there is one, goes away by itself: nobody has to
// be told.
func Waits(err error) bool {
	var k kinds
	k.sort(err)
	return len(k.retry) == 0 && len(k.terminal) == 0
}

// Sooner is the smaller of two delays, where 0 means never.
func Sooner(a, b time.Duration) time.Duration {
	if a <= 0 {
		return max(b, 0)
	}
	if b <= 0 {
		return a
	}
	return min(a, b)
}

// kinds are the parts of an error, sorted.
type kinds struct {
	wait            time.Duration
	retry, terminal []error
}

func (k *kinds) sort(err error) {
	if err == nil {
		return
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			k.sort(e)
		}
		return
	}
	var w *waiting
	switch {
	case errors.As(err, &w):
		k.wait = Sooner(k.wait, max(w.after, time.Millisecond))
	case errors.Is(err, reconcile.TerminalError(nil)):
		k.terminal = append(k.terminal, err)
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err):
		k.wait = Sooner(k.wait, conflictDelay)
	default:
		k.retry = append(k.retry, err)
	}
}

// plain is an error that nobody takes for a terminal one.
func plain(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(err.Error())
}
