package pods

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	env "open-cluster-management.io/fleet-addon/test/env"
	"open-cluster-management.io/fleet-addon/test/env/internal/ports"
	"open-cluster-management.io/fleet-addon/test/env/internal/process"
)

// Options of a Node.
type Options struct {
	Cluster string
	Clients kubernetes.Interface
	Server  string
	CA      []byte
	// Dir holds a folder per pod while it lives; Logs keeps a file per container.
	Dir, Logs string
	Runner    *process.Runner
	Ports     *ports.Pool
	Binary    *Binary
	// Bind says that no scheduler runs and pods are to be bound here.
	Bind bool
	Logf func(format string, args ...any)
}

// bindTo is the node name that pods get where no scheduler runs. There is no Node object.
const bindTo = "environment"

// resync is how often all pods are looked at again, so that what failed for a moment is tried again.
const resync = 10 * time.Second

// Node runs one cluster's pods of our image.
type Node struct {
	Options
	cancel context.CancelFunc
	ctx    context.Context

	mu   sync.Mutex
	pods map[types.UID]*pod
}

// NewNode makes a Node; Start starts it.
func NewNode(o Options) *Node {
	n := &Node{Options: o, pods: map[types.UID]*pod{}}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	return n
}

// Start begins to watch pods and to run ours.
func (n *Node) Start() {
	factory := informers.NewSharedInformerFactory(n.Clients, resync)
	// Handlers fail only if the informer has ended.
	_, _ = factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { n.observe(obj.(*corev1.Pod)) },
		UpdateFunc: func(_, obj any) { n.observe(obj.(*corev1.Pod)) },
		DeleteFunc: n.gone,
	})
	factory.Start(n.ctx.Done())
}

// Stop ends all processes without touching the pods' objects.
func (n *Node) Stop(grace time.Duration) {
	n.cancel()
	n.mu.Lock()
	all := slices.Collect(maps.Values(n.pods))
	n.mu.Unlock()
	var wait sync.WaitGroup
	for _, p := range all {
		wait.Go(func() { p.end(grace) })
	}
	wait.Wait()
}

func (n *Node) observe(object *corev1.Pod) {
	if !ours(object) || n.ctx.Err() != nil {
		return
	}
	finished := object.Status.Phase == corev1.PodSucceeded || object.Status.Phase == corev1.PodFailed
	n.mu.Lock()
	defer n.mu.Unlock()
	p, known := n.pods[object.UID]
	switch {
	case known && object.DeletionTimestamp != nil:
		go p.delete(graceOf(object))
	case known || finished && object.DeletionTimestamp == nil:
	case object.DeletionTimestamp != nil:
		// Nothing runs for it (any more): what is left is to let go of the object.
		go n.release(object)
	case object.Spec.NodeName == "":
		if n.Bind {
			go n.bind(object)
		}
	default:
		p := newPod(n, object)
		n.pods[object.UID] = p
		go p.run()
	}
}

// gone deals with an object that vanished without a graceful end.
func (n *Node) gone(obj any) {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = unknown.Obj
	}
	object, ok := obj.(*corev1.Pod)
	if !ok {
		return
	}
	n.mu.Lock()
	p, known := n.pods[object.UID]
	n.mu.Unlock()
	if known {
		go p.end(graceOf(object))
	}
}

func (n *Node) forget(p *pod) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.pods, p.object.UID)
}

func (n *Node) bind(object *corev1.Pod) {
	err := n.Clients.CoreV1().Pods(object.Namespace).Bind(n.ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: object.Name, Namespace: object.Namespace, UID: object.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: bindTo},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		n.Logf("%s: bind pod %s/%s: %v", n.Cluster, object.Namespace, object.Name, err)
	}
}

// release deletes the object of a pod whose processes have ended, as a kubelet does.
func (n *Node) release(object *corev1.Pod) {
	now := int64(0)
	err := n.Clients.CoreV1().Pods(object.Namespace).Delete(n.ctx, object.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(object.UID)),
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && n.ctx.Err() == nil {
		n.Logf("%s: delete pod %s/%s, will be tried again: %v", n.Cluster, object.Namespace, object.Name, err)
	}
}

// Status tells about all pods, by namespace and name.
func (n *Node) Status() []env.PodStatus {
	n.mu.Lock()
	all := slices.Collect(maps.Values(n.pods))
	n.mu.Unlock()
	var out []env.PodStatus
	for _, p := range all {
		for _, c := range p.containers {
			out = append(out, c.status())
		}
	}
	slices.SortFunc(out, func(a, b env.PodStatus) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Each calls act on every container of the pods in namespace (all if empty) that match, and returns how many.
func (n *Node) Each(namespace string, selector labels.Selector, act func(*Container)) int {
	n.mu.Lock()
	all := slices.Collect(maps.Values(n.pods))
	n.mu.Unlock()
	count := 0
	for _, p := range all {
		if namespace != "" && p.object.Namespace != namespace || !selector.Matches(labels.Set(p.object.Labels)) {
			continue
		}
		for _, c := range p.containers {
			act(c)
			count++
		}
	}
	return count
}

func graceOf(object *corev1.Pod) time.Duration {
	seconds := int64(30)
	if object.Spec.TerminationGracePeriodSeconds != nil {
		seconds = *object.Spec.TerminationGracePeriodSeconds
	}
	if object.DeletionGracePeriodSeconds != nil {
		seconds = *object.DeletionGracePeriodSeconds
	}
	return time.Duration(seconds) * time.Second
}
