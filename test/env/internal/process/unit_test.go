package process

import (
	"testing"
	"time"
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
			deadline := time.Now().Add(5 * time.Second)
			for {
				status := unit.Status()
				settled := status.Running == test.wantRunning && status.Wanted == test.wantWanted && status.PID != first
				if settled {
					return
				}
				if time.Now().After(deadline) {
					t.Fatalf("want running %t, wanted %t, got %+v", test.wantRunning, test.wantWanted, status)
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
}
