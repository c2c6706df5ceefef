package outcome_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/fleet-addon/pkg/hub/outcome"
)

func TestResult(t *testing.T) {
	broken := errors.New("broken")
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "things"}, "a", broken)
	exists := apierrors.NewAlreadyExists(schema.GroupResource{Resource: "things"}, "a")
	tests := map[string]struct {
		recheck      time.Duration
		err          error
		wantAfter    time.Duration
		wantErr      bool
		wantTerminal bool
	}{
		"nothing":                                     {},
		"time alone":                                  {recheck: time.Minute, wantAfter: time.Minute},
		"a wait":                                      {err: outcome.Wait(time.Second, "for it"), wantAfter: time.Second},
		"a wait that is over is not never":            {err: outcome.Wait(0, "for it"), wantAfter: time.Millisecond},
		"a wrapped wait":                              {err: fmt.Errorf("bundle: %w", outcome.Wait(time.Second, "for it")), wantAfter: time.Second},
		"a conflict is waited out":                    {err: fmt.Errorf("patch: %w", conflict), wantAfter: 200 * time.Millisecond},
		"what exists already is waited out":           {err: exists, wantAfter: 200 * time.Millisecond},
		"the sooner of wait and recheck":              {recheck: time.Minute, err: outcome.Wait(time.Second, "for it"), wantAfter: time.Second},
		"the soonest of several waits":                {err: errors.Join(outcome.Wait(time.Hour, "for it"), conflict), wantAfter: 200 * time.Millisecond},
		"an error backs off":                          {err: broken, wantErr: true},
		"an error does not put off a recheck":         {recheck: time.Second, err: broken, wantAfter: time.Second},
		"an error is retried before a late recheck":   {recheck: time.Hour, err: broken, wantAfter: 10 * time.Second},
		"a terminal error stops":                      {err: outcome.Terminal(broken), wantErr: true, wantTerminal: true},
		"a terminal error does not put off a recheck": {recheck: time.Hour, err: outcome.Terminal(broken), wantAfter: time.Hour},
		"a terminal error does not stop a retry":      {err: errors.Join(outcome.Terminal(broken), broken), wantErr: true},
		"joined errors inside each other":             {err: errors.Join(errors.Join(outcome.Wait(time.Second, "a"), nil), broken), wantAfter: time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := outcome.Result(context.Background(), tt.recheck, tt.err)
			if diff := cmp.Diff(tt.wantAfter, got.RequeueAfter); diff != "" {
				t.Errorf("RequeueAfter (-want +got):\n%s", diff)
			}
			if (err != nil) != tt.wantErr {
				t.Errorf("err = %v, want one: %v", err, tt.wantErr)
			}
			if terminal := errors.Is(err, reconcile.TerminalError(nil)); terminal != tt.wantTerminal {
				t.Errorf("terminal = %v, want %v", terminal, tt.wantTerminal)
			}
		})
	}
}
