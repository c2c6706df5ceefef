package process

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	tests := map[string]struct {
		line      string
		wantStart uint64
		wantState byte
		wantError bool
	}{
		"a plain name": {
			line:      "42 (etcd) S 1 42 42 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 9 0 777 1 2 3",
			wantStart: 777, wantState: 'S',
		},
		"a name with blanks and parentheses": {
			line:      "42 (a) b (c) Z 1 42 42 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 9 0 778 1 2 3",
			wantStart: 778, wantState: 'Z',
		},
		"a line cut short": {line: "42 (etcd) S 1 42", wantError: true},
		"no line at all":   {line: "", wantError: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			start, state, err := parseStat(test.line)
			if (err != nil) != test.wantError {
				t.Fatalf("want error %t, got %v", test.wantError, err)
			}
			if err == nil && (start != test.wantStart || state != test.wantState) {
				t.Errorf("want %d %c, got %d %c", test.wantStart, test.wantState, start, state)
			}
		})
	}
}

func TestKillRecorded(t *testing.T) {
	tests := map[string]struct {
		change   func(*Record)
		wantDead bool
	}{
		"the recorded process is ended":                     {change: func(*Record) {}, wantDead: true},
		"a stranger with the same pid lives":                {change: func(r *Record) { r.Start-- }},
		"a process of another boot was not this one either": {change: func(r *Record) { r.Boot = "other" }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			runner, err := NewRunner(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			p, err := runner.Start(sleeper(t))
			if err != nil {
				t.Fatal(err)
			}
			defer p.Stop(0)
			record, err := NewRecord("sleeper", p.PID)
			if err != nil {
				t.Fatal(err)
			}
			test.change(&record)
			if err := record.write(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := KillRecorded(dir, 5*time.Second); err != nil {
				t.Fatal(err)
			}
			if dead := !p.Running() || endsSoon(p); dead != test.wantDead {
				t.Errorf("want dead %t, got %t", test.wantDead, dead)
			}
			if left, err := Records(dir); err != nil || len(left) > 0 {
				t.Errorf("want no record left, got %v, %v", left, err)
			}
		})
	}
}

// endsSoon gives a killed process the moment that it takes to be reaped.
func endsSoon(p *Process) bool {
	select {
	case <-p.Done():
		return true
	case <-time.After(200 * time.Millisecond):
		return false
	}
}

func sleeper(t *testing.T) Spec {
	t.Helper()
	path, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("no sleep program")
	}
	return Spec{Name: "sleeper", Path: path, Args: []string{"60"}, Log: t.TempDir() + "/log", Env: os.Environ()}
}
