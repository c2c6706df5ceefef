package process

import (
	"os"
	"testing"
	"time"
)

func TestStopEndsAProgramThatIgnoresSIGTERM(t *testing.T) {
	runner, err := NewRunner(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	spec := Spec{
		Name: "stubborn", Path: "/bin/sh", Log: t.TempDir() + "/log", Env: os.Environ(),
		// The child of the shell is in the same process group and must go too.
		Args: []string{"-c", `trap "" TERM; sleep 60 & wait; wait`},
	}
	p, err := runner.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	p.Stop(100 * time.Millisecond)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("stopping took %s", took)
	}
	if p.Running() {
		t.Error("the program still runs")
	}
}

func TestStartForgetsWhatHasEnded(t *testing.T) {
	dir := t.TempDir()
	runner, err := NewRunner(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := runner.Start(Spec{Name: "short", Path: "/bin/sh", Args: []string{"-c", "exit 3"}, Log: t.TempDir() + "/log"})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if p.ExitCode() != 3 {
		t.Errorf("want exit code 3, got %s", p.Exit())
	}
	if records, err := Records(dir); err != nil || len(records) > 0 {
		t.Errorf("want no record, got %v, %v", records, err)
	}
}
