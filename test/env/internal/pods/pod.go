package pods

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"open-cluster-management.io/fleet-addon/test/env/internal/manifest"
)

// How often volumes and token are looked at, before and after the containers have started.
const (
	prepareEvery = 300 * time.Millisecond
	syncEvery    = 2 * time.Second
)

// pod is one pod object and the processes of its containers.
type pod struct {
	node       *Node
	object     *corev1.Pod
	dir        string
	containers []*Container
	started    time.Time

	tokens map[string]heldToken // used by one goroutine only

	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed when all processes have ended
	dirty  chan struct{}

	mu       sync.Mutex
	grace    time.Duration
	deleting bool
	waiting  string // why the containers have not started
	// transitions are the conditions as last written.
	transitions map[corev1.PodConditionType]corev1.PodCondition
}

func newPod(n *Node, object *corev1.Pod) *pod {
	p := &pod{
		node: n, object: object, started: time.Now(), tokens: map[string]heldToken{}, done: make(chan struct{}),
		dirty: make(chan struct{}, 1), grace: graceOf(object),
		transitions: map[corev1.PodConditionType]corev1.PodCondition{},
		dir:         filepath.Join(n.Dir, fmt.Sprintf("%s_%s", object.Namespace, object.Name)),
	}
	p.ctx, p.cancel = context.WithCancel(n.ctx)
	for i, c := range object.Spec.Containers {
		if imageName(c.Image) == ourImage {
			p.containers = append(p.containers, newContainer(p, object.Spec.Containers[i]))
		}
	}
	return p
}

// run is the pod's life.
func (p *pod) run() {
	defer p.finish()
	reported := make(chan struct{})
	reports, stopReports := context.WithCancel(p.node.ctx)
	go func() {
		defer close(reported)
		p.report(reports)
	}()
	defer func() {
		stopReports()
		<-reported
	}()
	if !p.prepare() {
		return
	}
	var wait sync.WaitGroup
	for _, c := range p.containers {
		wait.Go(c.run)
	}
	ended := make(chan struct{})
	go func() {
		wait.Wait()
		close(ended)
	}()
	p.keepInSync(ended)
}

// finish lets go of the pod: the object if it was deleted, the folder in any case. Logs stay.
func (p *pod) finish() {
	p.cancel()
	if err := os.RemoveAll(p.dir); err != nil {
		p.node.Logf("%s: remove %s: %v", p.node.Cluster, p.dir, err)
	}
	p.mu.Lock()
	deleting := p.deleting
	p.mu.Unlock()
	switch {
	case p.node.ctx.Err() != nil:
	case deleting:
		p.node.forget(p)
		p.node.release(p.object)
	default:
		err := manifest.Poll(p.node.ctx, "the final status", time.Minute, func(ctx context.Context) (bool, error) {
			err := p.pushStatus(ctx)
			return err == nil, err
		})
		if err != nil {
			p.node.Logf("%s: status of pod %s/%s: %v", p.node.Cluster, p.object.Namespace, p.object.Name, err)
		}
		p.node.forget(p)
	}
	close(p.done)
}

// prepare waits for everything that the containers need; a missing Secret is waited for as long as it takes.
func (p *pod) prepare() bool {
	ticker := time.NewTicker(prepareEvery)
	defer ticker.Stop()
	for {
		err := os.MkdirAll(filepath.Join(p.dir, "tmp"), 0o700)
		if err == nil {
			err = p.sync()
		}
		if err == nil {
			p.setWaiting("")
			return true
		}
		p.setWaiting(err.Error())
		select {
		case <-p.ctx.Done():
			return false
		case <-ticker.C:
		}
	}
}

func (p *pod) sync() error {
	if err := p.syncVolumes(p.ctx); err != nil {
		return err
	}
	return p.syncIdentity(p.ctx)
}

// keepInSync runs until all containers have ended.
func (p *pod) keepInSync(ended <-chan struct{}) {
	ticker := time.NewTicker(syncEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return
		case <-ticker.C:
			if p.ctx.Err() == nil {
				_ = p.sync() // what cannot be read now stays as it is, as with a kubelet
			}
		}
	}
}

func (p *pod) setWaiting(reason string) {
	p.mu.Lock()
	changed := p.waiting != reason
	p.waiting = reason
	p.mu.Unlock()
	if changed {
		p.changed()
	}
}

// changed asks for the status to be written.
func (p *pod) changed() {
	select {
	case p.dirty <- struct{}{}:
	default:
	}
}

// delete is the graceful end of a deleted pod: stop, then let the object go.
func (p *pod) delete(grace time.Duration) {
	p.mu.Lock()
	p.deleting = true
	p.mu.Unlock()
	p.end(grace)
}

// end stops all processes and returns when they are gone.
func (p *pod) end(grace time.Duration) {
	p.mu.Lock()
	p.grace = grace
	p.mu.Unlock()
	p.cancel()
	<-p.done
}

func (p *pod) gracePeriod() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.grace
}
