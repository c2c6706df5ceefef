package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Runner starts processes. The kernel sends a child its parent-death signal when the *thread* that started it ends, so
// all are started from one goroutine that keeps its thread for good.
type Runner struct {
	records string
	starts  chan func()
}

// NewRunner keeps process records in the folder records.
func NewRunner(records string) (*Runner, error) {
	if err := os.MkdirAll(records, 0o700); err != nil {
		return nil, fmt.Errorf("folder of process records: %w", err)
	}
	r := &Runner{records: records, starts: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for start := range r.starts {
			start()
		}
	}()
	return r, nil
}

// Process is a started program.
type Process struct {
	Name string
	PID  int

	cmd   *exec.Cmd
	grace time.Duration
	done  chan struct{}

	mu     sync.Mutex
	reaped bool
	state  *os.ProcessState
}

// Start starts the program; it is recorded until it has ended.
func (r *Runner) Start(spec Spec) (*Process, error) {
	cmd, log, err := spec.command()
	if err != nil {
		return nil, err
	}
	defer log.Close()
	started := make(chan error, 1)
	r.starts <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s (%s): %w", spec.Name, spec.Path, err)
	}
	p := &Process{Name: spec.Name, PID: cmd.Process.Pid, cmd: cmd, grace: spec.grace(), done: make(chan struct{})}
	record, err := NewRecord(spec.Name, p.PID)
	if err == nil {
		err = record.write(r.records)
	}
	go p.wait(func() { _ = os.Remove(record.file(r.records)) })
	if err != nil {
		p.Stop(0)
		return nil, fmt.Errorf("record %s: %w", spec.Name, err)
	}
	return p, nil
}

// wait ends what the process left in its group while its pid still belongs to it, then reaps it.
func (p *Process) wait(forget func()) {
	for {
		err := unix.Waitid(unix.P_PID, p.PID, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.mu.Lock()
	_ = syscall.Kill(-p.PID, syscall.SIGKILL)
	_ = p.cmd.Wait()
	p.reaped, p.state = true, p.cmd.ProcessState
	p.mu.Unlock()
	forget()
	close(p.done)
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Running tells whether the process has not ended yet.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// ExitCode is the exit code, or 128 plus the signal as a shell has it; call it after Done.
func (p *Process) ExitCode() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if status, ok := p.state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.state.ExitCode()
}

// Exit describes how the process ended; call it after Done.
func (p *Process) Exit() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.String()
}

// Kill sends SIGKILL to the process group and does not wait.
func (p *Process) Kill() { p.signal(syscall.SIGKILL) }

func (p *Process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = syscall.Kill(-p.PID, s)
	}
}

// Stop sends SIGTERM, after grace SIGKILL, and returns when the process is gone. A negative grace stands for the one
// of the Spec, 0 kills at once.
func (p *Process) Stop(grace time.Duration) {
	if grace < 0 {
		grace = p.grace
	}
	if grace > 0 {
		p.signal(syscall.SIGTERM)
		select {
		case <-p.done:
			return
		case <-time.After(grace):
		}
	}
	p.Kill()
	<-p.done
}
