package process

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

func TestUnit(t *testing.T) {
	tests := map[string]struct {
		restart     bool
		act         func(*Unit)
		wantRunning bool
		wantWanted  bool
	}{
		"a killed program that restarts runs again": {
			restart: true, wantRunning: true, wantWanted: true,
			act: func(u *Unit) { u.process.Kill() },
		},
		"a killed program that does not restart stays down and is missed": {
			wantWanted: true,
			act:        func(u *Unit) { u.process.Kill() },
		},
		"a stopped program stays down": {
			restart: true,
			act:     func(u *Unit) { u.Stop(time.Second) },
		},
		"a stopped program can be started": {
			wantRunning: true, wantWanted: true,
			act: func(u *Unit) {
				u.Stop(time.Second)
				_ = u.Start()
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			runner, err := NewRunner(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			unit := NewUnit(runner, sleeper(t), test.restart, t.Logf)
			if err := unit.Start(); err != nil {
				t.Fatal(err)
			}
			defer unit.Stop(0)
			first := unit.Status().PID
			test.act(unit)
			settled := func(context.Context) (bool, error) {
				status := unit.Status()
				return status.Running == test.wantRunning && status.Wanted == test.wantWanted && status.PID != first, nil
			}
			if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 5*time.Second, true, settled); err != nil {
				t.Fatalf("want running %t, wanted %t, got %+v", test.wantRunning, test.wantWanted, unit.Status())
			}
		})
	}
}
