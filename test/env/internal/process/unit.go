package process

import (
	"sync"
	"time"
)

// Unit is a program that is meant to run until it is stopped. An end that nobody asked for is logged; a Unit that
// restarts (what a Deployment would do) is started again after a back-off, any other stays down until Start.
type Unit struct {
	runner  *Runner
	spec    Spec
	restart bool
	logf    func(format string, args ...any)

	mu       sync.Mutex
	process  *Process
	wanted   bool
	restarts int
	lastExit string
	retry    *time.Timer
}

// UnitStatus is what a Unit tells about itself.
type UnitStatus struct {
	Name     string `json:"name"`
	PID      int    `json:"pid,omitempty"`
	Running  bool   `json:"running"`
	Wanted   bool   `json:"wanted"`
	Restarts int    `json:"restarts"`
	LastExit string `json:"lastExit,omitempty"`
	Log      string `json:"log"`
}

const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// NewUnit describes a program without starting it.
func NewUnit(runner *Runner, spec Spec, restart bool, logf func(format string, args ...any)) *Unit {
	return &Unit{runner: runner, spec: spec, restart: restart, logf: logf}
}

// Start starts the program unless it runs already.
func (u *Unit) Start() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.wanted = true
	return u.start()
}

func (u *Unit) start() error {
	if u.process != nil && u.process.Running() {
		return nil
	}
	p, err := u.runner.Start(u.spec)
	if err != nil {
		return err
	}
	u.process = p
	go u.watch(p)
	return nil
}

func (u *Unit) watch(p *Process) {
	<-p.Done()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lastExit = p.Exit()
	if !u.wanted || u.process != p {
		return
	}
	u.logf("%s (pid %d) ended by itself: %s; see %s", p.Name, p.PID, u.lastExit, u.spec.Log)
	if u.restart {
		u.retry = time.AfterFunc(min(firstRetry<<min(u.restarts, 10), lastRetry), u.again)
	}
}

func (u *Unit) again() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.wanted {
		return
	}
	u.restarts++
	if err := u.start(); err != nil {
		u.logf("%v", err)
		return
	}
	u.logf("%s started again (restart %d)", u.spec.Name, u.restarts)
}

// Stop ends the program and keeps it down; for grace see Process.Stop.
func (u *Unit) Stop(grace time.Duration) {
	u.mu.Lock()
	u.wanted = false
	if u.retry != nil {
		u.retry.Stop()
	}
	p := u.process
	u.mu.Unlock()
	if p != nil {
		p.Stop(grace)
	}
}

// Exited is closed when the program that runs now has ended.
func (u *Unit) Exited() <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.process == nil {
		closed := make(chan struct{})
		close(closed)
		return closed
	}
	return u.process.Done()
}

// Log is the path of the program's log.
func (u *Unit) Log() string { return u.spec.Log }

// Status tells how the program does.
func (u *Unit) Status() UnitStatus {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := UnitStatus{Name: u.spec.Name, Wanted: u.wanted, Restarts: u.restarts, LastExit: u.lastExit, Log: u.spec.Log}
	if u.process != nil && u.process.Running() {
		s.Running, s.PID = true, u.process.PID
	}
	return s
}
