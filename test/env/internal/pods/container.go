package pods

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"open-cluster-management.io/fleet-addon/test/env/internal/process"
)

// Back-off between restarts: none for the first, then doubling; forgotten after a while of quiet running. A kubelet's
// is ten times slower, which tests need not wait for.
const (
	firstBackOff = time.Second
	lastBackOff  = 30 * time.Second
	quiet        = time.Minute
)

// States of a container.
const (
	stateWaiting    = "waiting"
	stateRunning    = "running"
	stateTerminated = "terminated"
)

// Container is one container, run as a process.
type Container struct {
	pod  *pod
	spec corev1.Container
	wake chan struct{}

	mu        sync.Mutex
	process   *process.Process
	state     string
	reason    string
	ready     bool
	held      bool
	restarts  int
	crashes   int // in a row, for the back-off
	startedAt time.Time
	endedAt   time.Time
	exitCode  *int
	moved     addresses
}

func newContainer(p *pod, spec corev1.Container) *Container {
	return &Container{pod: p, spec: spec, wake: make(chan struct{}, 1), state: stateWaiting, reason: "ContainerCreating"}
}

// run starts the process again and again until the pod ends or its restart policy says that it is done.
func (c *Container) run() {
	defer c.releasePorts()
	for first := true; c.pod.ctx.Err() == nil; {
		binary, replaced := c.pod.node.Binary.Get()
		if c.isHeld() {
			c.wait("HeldByEnvironment", nil, replaced)
			continue
		}
		if binary == "" {
			c.wait("NoBinary: run `env set-binary PATH`", nil, replaced)
			continue
		}
		if !first {
			c.mu.Lock()
			c.restarts++
			c.mu.Unlock()
		}
		p, err := c.start(binary)
		if err != nil {
			c.wait("CreateContainerError: "+err.Error(), time.After(time.Second), replaced)
			continue
		}
		first = false
		wanted := c.supervise(p, replaced)
		if !wanted || c.finished() {
			return
		}
		c.backOff(replaced)
	}
}

// supervise waits for the process to end; it ends it if the pod ends, the binary is replaced, or it is held. It tells
// whether another start is to follow as far as the pod is concerned.
func (c *Container) supervise(p *process.Process, replaced <-chan struct{}) bool {
	stopProbe := c.probe(p)
	defer stopProbe()
	defer c.ended(p)
	for {
		select {
		case <-p.Done():
			return true
		case <-c.pod.ctx.Done():
			p.Stop(c.pod.gracePeriod())
			return false
		case <-replaced:
			p.Stop(c.pod.gracePeriod())
			c.calm()
			return true
		case <-c.wake:
			if c.isHeld() {
				p.Stop(c.pod.gracePeriod())
				return true
			}
		}
	}
}

// start makes the command as the pod says and starts it.
func (c *Container) start(binary string) (*process.Process, error) {
	p := c.pod
	variables, err := p.environment(p.ctx, c.spec)
	if err != nil {
		return nil, err
	}
	mounts := p.mounts(c.spec)
	var args []string
	command := c.spec.Command
	if len(command) > 0 {
		command = command[1:] // the binary stands for the first word
	}
	for _, arg := range append(append([]string{}, command...), c.spec.Args...) {
		args = append(args, replacePaths(expand(arg, variables), mounts))
	}
	c.releasePorts()
	args, moved, err := moveAddresses(args, p.node.Ports.Next)
	if err != nil {
		return nil, err
	}
	for name, value := range variables {
		variables[name] = replacePaths(value, mounts)
	}
	variables["KUBECONFIG"] = p.kubeconfig()
	variables["HOME"], variables["TMPDIR"] = p.dir, filepath.Join(p.dir, "tmp")
	if _, set := variables["PATH"]; !set {
		variables["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	}
	started, err := p.node.Runner.Start(process.Spec{
		Name: fmt.Sprintf("%s/pod/%s/%s/%s", p.node.Cluster, p.object.Namespace, p.object.Name, c.spec.Name),
		Path: binary, Args: args, Env: list(variables), Dir: p.dir, Log: c.log(),
	})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.process, c.state, c.reason, c.startedAt, c.moved = started, stateRunning, "", time.Now(), moved
	c.ready = c.spec.ReadinessProbe == nil
	c.mu.Unlock()
	p.node.Logf("%s started as process %d: %s", started.Name, started.PID, strings.Join(args, " "))
	p.changed()
	return started, nil
}

func (c *Container) ended(p *process.Process) {
	code := p.ExitCode()
	c.mu.Lock()
	c.state, c.ready, c.endedAt, c.exitCode = stateTerminated, false, time.Now(), &code
	c.reason = "Completed"
	if code != 0 {
		c.reason = "Error"
	}
	if c.endedAt.Sub(c.startedAt) > quiet {
		c.crashes = 0
	}
	c.mu.Unlock()
	c.pod.node.Logf("%s (process %d) ended: %s", p.Name, p.PID, p.Exit())
	c.pod.changed()
}

// finished tells whether the pod's restart policy wants no further start.
func (c *Container) finished() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.pod.object.Spec.RestartPolicy {
	case corev1.RestartPolicyNever:
		return true
	case corev1.RestartPolicyOnFailure:
		return c.exitCode != nil && *c.exitCode == 0
	case corev1.RestartPolicyAlways:
	}
	return false
}

func (c *Container) backOff(replaced <-chan struct{}) {
	c.mu.Lock()
	crashes := c.crashes
	c.crashes++
	c.mu.Unlock()
	if crashes == 0 || c.isHeld() {
		return
	}
	delay := min(firstBackOff<<min(crashes-1, 10), lastBackOff)
	c.wait(fmt.Sprintf("CrashLoopBackOff: %s", delay), time.After(delay), replaced)
}

// wait shows why the container does not run, until something changes.
func (c *Container) wait(reason string, timer <-chan time.Time, replaced <-chan struct{}) {
	c.mu.Lock()
	changed := c.state != stateWaiting || c.reason != reason
	c.state, c.reason, c.ready = stateWaiting, reason, false
	c.mu.Unlock()
	if changed {
		c.pod.changed()
	}
	select {
	case <-timer:
	case <-replaced:
		c.calm()
	case <-c.wake:
	case <-c.pod.ctx.Done():
	}
}

// releasePorts gives back what the last process listened on.
func (c *Container) releasePorts() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, port := range c.moved.ports {
		c.pod.node.Ports.Release(port)
	}
	c.moved = addresses{}
}
