package deploy

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// queue lets what is no Kubernetes object wake a BundleDeployment: readiness,
// the state of the hub, the clock.
type queue struct {
	mu   sync.Mutex
	work workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// start is a source of the controller.
func (q *queue) start(_ context.Context, work workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.work = work
	return nil
}

func (q *queue) add(namespace, name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	// Before the start there is nothing to wake: everything is looked at then.
	if q.work != nil && name != "" {
		q.work.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}})
	}
}
