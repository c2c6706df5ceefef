package pods

import (
	"fmt"
	"path/filepath"

	env "open-cluster-management.io/fleet-addon/test/env"
)

// calm forgets the crashes: what ran was stopped on purpose.
func (c *Container) calm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.crashes = 0
}

func (c *Container) isHeld() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held
}

// Kill sends SIGKILL; with hold the container stays down until Release.
func (c *Container) Kill(hold bool) {
	c.mu.Lock()
	p := c.process
	c.held = c.held || hold
	c.mu.Unlock()
	if p != nil {
		p.Kill()
		<-p.Done()
	}
}

// Hold stops the process gracefully and keeps it down.
func (c *Container) Hold() {
	c.mu.Lock()
	c.held = true
	p := c.process
	c.mu.Unlock()
	c.notify()
	if p != nil {
		<-p.Done()
	}
}

// Release lets the container start again.
func (c *Container) Release() {
	c.mu.Lock()
	c.held, c.crashes = false, 0
	c.mu.Unlock()
	c.notify()
}

func (c *Container) notify() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *Container) log() string {
	p := c.pod
	return filepath.Join(p.node.Logs, fmt.Sprintf("%s_%s_%s.log", p.object.Namespace, p.object.Name, c.spec.Name))
}

func (c *Container) status() env.PodStatus {
	p := c.pod
	p.mu.Lock()
	waiting := p.waiting
	p.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := env.PodStatus{
		Cluster: p.node.Cluster, Namespace: p.object.Namespace, Name: p.object.Name, Container: c.spec.Name,
		State: c.state, Reason: c.reason, Ready: c.ready, Restarts: c.restarts, ExitCode: c.exitCode, Held: c.held,
		MetricsAddress: c.moved.metrics, ProbeAddress: c.moved.probe, Log: c.log(), Dir: p.dir, Kubeconfig: p.kubeconfig(),
	}
	if waiting != "" {
		s.State, s.Reason = stateWaiting, waiting
	}
	if c.process != nil && c.process.Running() {
		s.PID = c.process.PID
	}
	return s
}
