package fault

import (
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Kind is what becomes of an error.
type Kind int

const (
	// Retry is tried again with exponential back-off. Every error that is not
	// known to be something else is of this kind.
	Retry Kind = iota
	// Terminal is not tried again until the next admission.
	Terminal
	// Waiting is no failure: something else has to happen first.
	Waiting
)

type fault struct {
	kind  Kind
	after time.Duration
	err   error
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// Terminalf is an error that no retry can cure.
func Terminalf(format string, args ...any) error {
	return &fault{kind: Terminal, err: fmt.Errorf(format, args...)}
}

// Waitingf is a wait that an event ends, or the time after at the latest; zero
// if the event is enough.
func Waitingf(after time.Duration, format string, args ...any) error {
	return &fault{kind: Waiting, after: after, err: fmt.Errorf(format, args...)}
}

// KindOf returns the kind of an error, Retry for one that was never classified.
func KindOf(err error) Kind {
	var f *fault
	if errors.As(err, &f) {
		return f.kind
	}
	return Retry
}

// Requeue turns an error into the result of a reconciliation. Retried errors go
// to the rate limiter of the queue; terminal ones end here.
func Requeue(err error) (reconcile.Result, error) {
	var f *fault
	switch {
	case err == nil:
		return reconcile.Result{}, nil
	case errors.As(err, &f) && f.kind == Terminal:
		return reconcile.Result{}, nil
	case errors.As(err, &f) && f.kind == Waiting:
		return reconcile.Result{RequeueAfter: f.after}, nil
	}
	return reconcile.Result{}, err
}
