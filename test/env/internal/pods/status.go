package pods

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// report writes the pod's status whenever it has changed, until the context ends.
func (p *pod) report(ctx context.Context) {
	p.changed()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.dirty:
		}
		if err := p.pushStatus(ctx); err != nil && ctx.Err() == nil {
			p.node.Logf("%s: status of pod %s/%s, will be tried again: %v", p.node.Cluster, p.object.Namespace, p.object.Name, err)
			time.AfterFunc(time.Second, p.changed)
		}
	}
}

// pushStatus writes the status as it is now; a pod that is gone needs none.
func (p *pod) pushStatus(ctx context.Context) error {
	// The uid makes the patch fail for another pod of the same name.
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": p.object.UID}, "status": p.podStatus(time.Now()),
	})
	if err != nil {
		return err
	}
	_, err = p.node.Clients.CoreV1().Pods(p.object.Namespace).
		Patch(ctx, p.object.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func (p *pod) podStatus(now time.Time) corev1.PodStatus {
	p.mu.Lock()
	waiting := p.waiting
	p.mu.Unlock()
	started := metav1.NewTime(p.started)
	status := corev1.PodStatus{
		Phase: corev1.PodRunning, StartTime: &started, HostIP: "127.0.0.1", PodIP: "127.0.0.1",
		PodIPs: []corev1.PodIP{{IP: "127.0.0.1"}},
	}
	ready := true
	own := map[string]*Container{}
	for _, c := range p.containers {
		own[c.spec.Name] = c
	}
	var codes []int
	terminated := 0
	for _, spec := range p.object.Spec.Containers {
		c := own[spec.Name]
		if c == nil { // of another image: stands there and does nothing
			running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}}
			status.ContainerStatuses = append(status.ContainerStatuses, containerStatus(spec, running, true, 0))
			continue
		}
		containerStatus, final := c.containerStatus(waiting)
		status.ContainerStatuses = append(status.ContainerStatuses, containerStatus)
		ready = ready && containerStatus.Ready
		if final != nil {
			terminated++
			codes = append(codes, *final)
		}
	}
	if terminated == len(p.containers) {
		status.Phase = corev1.PodSucceeded
		for _, code := range codes {
			if code != 0 {
				status.Phase = corev1.PodFailed
			}
		}
	} else if waiting != "" {
		status.Phase = corev1.PodPending
	}
	status.Conditions = p.conditions(now, waiting == "", ready)
	return status
}

// containerStatus also gives the exit code if the container is done for good.
func (c *Container) containerStatus(waiting string) (corev1.ContainerStatus, *int) {
	c.mu.Lock()
	state, reason, ready, restarts := c.state, c.reason, c.ready, c.restarts
	started, ended, code := metav1.NewTime(c.startedAt), metav1.NewTime(c.endedAt), c.exitCode
	c.mu.Unlock()
	if waiting != "" {
		state, reason = stateWaiting, waiting
	}
	var s corev1.ContainerState
	switch state {
	case stateRunning:
		s.Running = &corev1.ContainerStateRunning{StartedAt: started}
	case stateTerminated:
		s.Terminated = &corev1.ContainerStateTerminated{
			ExitCode: int32(*code), Reason: reason, StartedAt: started, FinishedAt: ended,
		}
	default:
		s.Waiting = &corev1.ContainerStateWaiting{Reason: short(reason), Message: reason}
	}
	var final *int
	if state == stateTerminated && c.finished() {
		final = code
	}
	return containerStatus(c.spec, s, ready, restarts), final
}

func containerStatus(spec corev1.Container, state corev1.ContainerState, ready bool, restarts int) corev1.ContainerStatus {
	started := state.Running != nil
	return corev1.ContainerStatus{
		Name: spec.Name, Image: spec.Image, ImageID: spec.Image, State: state, Ready: ready, Started: &started,
		RestartCount: int32(restarts), ContainerID: fmt.Sprintf("process://%s", spec.Name),
	}
}

// short is the first word of a reason.
func short(reason string) string {
	for i, r := range reason {
		if r == ':' || r == ' ' {
			return reason[:i]
		}
	}
	return reason
}

// conditions keeps the time of a condition that has not changed.
func (p *pod) conditions(now time.Time, initialized, ready bool) []corev1.PodCondition {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []corev1.PodCondition
	for _, c := range []struct {
		kind corev1.PodConditionType
		ok   bool
	}{
		{corev1.PodReadyToStartContainers, initialized}, {corev1.PodInitialized, initialized},
		{corev1.ContainersReady, ready}, {corev1.PodReady, ready},
	} {
		status := corev1.ConditionFalse
		if c.ok {
			status = corev1.ConditionTrue
		}
		last, known := p.transitions[c.kind]
		if !known || last.Status != status {
			last = corev1.PodCondition{Type: c.kind, Status: status, LastTransitionTime: metav1.NewTime(now)}
			p.transitions[c.kind] = last
		}
		out = append(out, last)
	}
	return out
}
