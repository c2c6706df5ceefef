package health

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

// breaks counts how often an object of an owner was seen that was not ready. Who
// looks at the objects from time to time misses one that was ready again before; a
// count that has changed tells. It has a lock of its own, because it is used while
// informers hold theirs.
type breaks struct {
	mu     sync.Mutex
	owners map[string]*broken
}

type broken struct {
	objects map[objectID]bool
	count   uint64
}

// objectID leaves the namespace out: a manifest need not tell it.
type objectID struct {
	schema.GroupKind
	name string
}

// follow counts for these objects of an owner, and no longer for those it had.
func (b *breaks) follow(owner string, objects []manifest.Object) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.owners == nil {
		b.owners = map[string]*broken{}
	}
	if b.owners[owner] == nil {
		b.owners[owner] = &broken{}
	}
	ids := make(map[objectID]bool, len(objects))
	for _, o := range objects {
		ids[objectID{o.GroupKind(), o.Name}] = true
	}
	b.owners[owner].objects = ids
}

func (b *breaks) forget(owner string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.owners, owner)
}

func (b *breaks) of(owner string) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if o := b.owners[owner]; o != nil {
		return o.count
	}
	return 0
}

// seen counts an object that is not ready.
func (b *breaks) seen(owner string, u *unstructured.Unstructured) {
	result, err := status.Compute(u)
	if err != nil || result.Status != status.CurrentStatus {
		b.add(owner, u)
	}
}

// add counts an object, whatever it says of itself: it is gone.
func (b *breaks) add(owner string, u *unstructured.Unstructured) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if o := b.owners[owner]; o != nil && o.objects[objectID{u.GroupVersionKind().GroupKind(), u.GetName()}] {
		o.count++
	}
}
