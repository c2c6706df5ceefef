package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	env "open-cluster-management.io/fleet-addon/test/env"
	"open-cluster-management.io/fleet-addon/test/env/internal/pods"
	"open-cluster-management.io/fleet-addon/test/env/internal/ports"
	"open-cluster-management.io/fleet-addon/test/env/internal/process"
	"open-cluster-management.io/fleet-addon/test/env/internal/toolchain"
)

// Supervisor runs one environment.
type Supervisor struct {
	options env.Options
	tools   toolchain.Tools
	runner  *process.Runner
	ports   *ports.Pool
	out     *reporter
	binary  *pods.Binary
	// stop ends Run; see env.ActionDown.
	stop context.CancelCauseFunc
	// orders are carried out one after the other.
	orders sync.Mutex

	mu          sync.Mutex
	description env.Description
	units       []*process.Unit
	hub         *member
	managed     []*member
	faults      map[string][]string
	stopped     chan struct{}
}

var (
	errDown      = errors.New("told to go down")
	errAbandoned = errors.New("the starting process died")
)

// Run starts the environment of dir, tells about it on progress, and supervises it until the context ends or an order
// says so. lifeline closes when whoever waits for the start is gone.
func Run(ctx context.Context, dir string, lifeline io.ReadCloser, progress io.WriteCloser) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	options, err := env.LoadOptions(dir)
	if err != nil {
		return err
	}
	root, err := toolchain.Root()
	if err != nil {
		return err
	}
	out := &reporter{progress: progress, start: time.Now()}
	s := &Supervisor{
		options: options, ports: ports.NewPool(filepath.Join(root, "ports")), out: out, stop: stop, faults: map[string][]string{},
		stopped: make(chan struct{}), binary: pods.NewBinary(""),
	}
	started := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, lifeline)
		select {
		case <-started:
		default:
			stop(errAbandoned)
		}
	}()
	err = s.run(ctx, started)
	return err
}

func (s *Supervisor) run(ctx context.Context, started chan struct{}) error {
	server, err := s.serve()
	if err != nil {
		s.out.fail(err)
		return err
	}
	defer shutDown(server)
	err = s.startAll(ctx)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		s.out.logf("start failed: %v", err)
		s.finish(env.PhaseFailed)
		s.out.fail(err)
		return err
	}
	close(started)
	s.out.done()
	<-ctx.Done()
	s.out.logf("going down: %v", context.Cause(ctx))
	s.finish(env.PhaseStopped)
	return nil
}

// finish stops everything and leaves the phase behind.
func (s *Supervisor) finish(phase string) {
	s.stopAll()
	s.setPhase(phase)
	s.out.logf("all processes ended")
	close(s.stopped)
}

// stopAll ends our pods first, then everything else at once, and etcd, which all depend on, last.
func (s *Supervisor) stopAll() {
	s.mu.Lock()
	members := append([]*member{s.hub}, s.managed...)
	units := slices.Clone(s.units)
	s.mu.Unlock()
	var wait sync.WaitGroup
	for _, m := range members {
		if m != nil && m.node != nil {
			wait.Go(func() { m.node.Stop(shutdownGrace) })
		}
	}
	wait.Wait()
	for i, unit := range units {
		if i > 0 {
			wait.Go(func() { unit.Stop(shutdownGrace) })
		}
	}
	wait.Wait()
	if len(units) > 0 {
		units[0].Stop(-1)
	}
}

const shutdownGrace = 3 * time.Second

// unit makes a Unit that stopAll and the status know about.
func (s *Supervisor) unit(spec process.Spec, restart bool) *process.Unit {
	u := process.NewUnit(s.runner, spec, restart, s.out.logf)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.units = append(s.units, u)
	return u
}

func (s *Supervisor) setPhase(phase string) {
	s.mu.Lock()
	s.description.Phase = phase
	d := s.description
	s.mu.Unlock()
	if d.Dir == "" {
		return // failed before there was anything to describe
	}
	if err := d.Save(); err != nil {
		s.out.logf("write env.json: %v", err)
	}
}

func (s *Supervisor) member(name string) (*member, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range append([]*member{s.hub}, s.managed...) {
		if m != nil && m.plane.Name == name {
			return m, nil
		}
	}
	var names []string
	for _, m := range s.managed {
		names = append(names, m.plane.Name)
	}
	return nil, fmt.Errorf("no cluster %q in this environment; there are hub, %v", name, names)
}

func (s *Supervisor) dir() string { return s.options.Dir }

func (s *Supervisor) describe() (env.Description, []*member, []*process.Unit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	members := slices.DeleteFunc(append([]*member{s.hub}, s.managed...), func(m *member) bool { return m == nil })
	return s.description, members, slices.Clone(s.units)
}

func pid() int { return os.Getpid() }
