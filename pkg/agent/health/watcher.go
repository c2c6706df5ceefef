package health

import (
	"context"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

// Watcher watches the objects of all releases. Its methods may be used at the
// same time. Its zero value is of no use; see New.
type Watcher struct {
	client dynamic.Interface
	mapper meta.RESTMapper
	label  string
	notify func(owner string)

	breaks breaks

	mu      sync.Mutex
	ctx     context.Context
	kinds   map[schema.GroupVersionResource]*kind
	tracked map[string]*tracked
}

// kind is one list and watch.
type kind struct {
	informer cache.SharedIndexInformer
	stop     context.CancelFunc
	owners   map[string]bool
}

// tracked is what is watched for one owner.
type tracked struct {
	namespace string
	objects   []manifest.Object
	resources map[schema.GroupKind]resource
}

type resource struct {
	gvr        schema.GroupVersionResource
	namespaced bool
}

// New returns a watcher of objects that carry label; its value is their owner.
// notify is called, from any goroutine, when an object of an owner changed or
// could be read for the first time.
func New(client dynamic.Interface, mapper meta.RESTMapper, label string, notify func(owner string)) *Watcher {
	return &Watcher{
		client: client, mapper: mapper, label: label, notify: notify,
		kinds: map[schema.GroupVersionResource]*kind{}, tracked: map[string]*tracked{},
	}
}

// Start keeps the watches until ctx ends. Track may be called before.
func (w *Watcher) Start(ctx context.Context) error {
	w.mu.Lock()
	w.ctx = ctx
	for _, k := range w.kinds {
		w.run(k)
	}
	w.mu.Unlock()
	<-ctx.Done()
	return nil
}

// Track watches the objects of an owner, and stops to watch those it had before.
// namespace is the one of objects that name none.
func (w *Watcher) Track(owner, namespace string, objects []manifest.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.breaks.follow(owner, objects)
	w.tracked[owner] = &tracked{namespace: namespace, objects: objects, resources: map[schema.GroupKind]resource{}}
	w.resolve(owner)
	w.release(owner)
}

// Forget stops to watch the objects of an owner.
func (w *Watcher) Forget(owner string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.tracked, owner)
	w.breaks.forget(owner)
	w.release(owner)
}

// resolve finds the resources of an owner's kinds and sees that they are
// watched. A kind that the API server does not know is tried again each time.
func (w *Watcher) resolve(owner string) {
	t := w.tracked[owner]
	for _, o := range t.objects {
		gk := o.GroupKind()
		if _, ok := t.resources[gk]; ok {
			continue
		}
		mapping, err := w.mapper.RESTMapping(gk, o.Version)
		if err != nil {
			continue
		}
		t.resources[gk] = resource{mapping.Resource, mapping.Scope.Name() == meta.RESTScopeNameNamespace}
		w.watch(mapping.Resource, owner)
	}
}

func (w *Watcher) watch(gvr schema.GroupVersionResource, owner string) {
	k, ok := w.kinds[gvr]
	if !ok {
		k = w.newKind(gvr)
		w.kinds[gvr] = k
		if w.ctx != nil {
			w.run(k)
		}
	}
	k.owners[owner] = true
}

// release drops what an owner does not need any more, and a watch with its last
// owner.
func (w *Watcher) release(owner string) {
	needed := map[schema.GroupVersionResource]bool{}
	if t := w.tracked[owner]; t != nil {
		for _, r := range t.resources {
			needed[r.gvr] = true
		}
	}
	for gvr, k := range w.kinds {
		if !k.owners[owner] || needed[gvr] {
			continue
		}
		delete(k.owners, owner)
		if len(k.owners) == 0 {
			if k.stop != nil {
				k.stop()
			}
			delete(w.kinds, gvr)
		}
	}
}

func (w *Watcher) newKind(gvr schema.GroupVersionResource) *kind {
	informer := dynamicinformer.NewFilteredDynamicInformer(w.client, gvr, metav1.NamespaceAll, 0, cache.Indexers{},
		func(o *metav1.ListOptions) { o.LabelSelector = w.label }).Informer()
	// Neither can fail before the informer has been started.
	_ = informer.SetTransform(w.observe)
	_ = informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, _ *cache.Reflector, err error) {
		logr.FromContextOrDiscard(ctx).V(1).Info("watch ended, trying again", "resource", gvr.String(), "error", err.Error())
	})
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    w.changed,
		UpdateFunc: func(_, o any) { w.changed(o) },
		DeleteFunc: w.gone,
	})
	return &kind{informer: informer, owners: map[string]bool{}}
}

func (w *Watcher) changed(obj any) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		w.notify(u.GetLabels()[w.label])
	}
}

func (w *Watcher) gone(obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		w.breaks.add(u.GetLabels()[w.label], u)
		w.changed(u)
	}
}

// observe sees every version of an object before the informer's store has it.
func (w *Watcher) observe(obj any) (any, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		w.breaks.seen(u.GetLabels()[w.label], u)
	}
	return strip(obj)
}

// run starts a watch and tells its owners when the first list is there: a kind
// without any object left makes no other event.
func (w *Watcher) run(k *kind) {
	var ctx context.Context
	ctx, k.stop = context.WithCancel(w.ctx)
	go k.informer.RunWithContext(ctx)
	go func() {
		if !cache.WaitForCacheSync(ctx.Done(), k.informer.HasSynced) {
			return
		}
		w.mu.Lock()
		owners := make([]string, 0, len(k.owners))
		for o := range k.owners {
			owners = append(owners, o)
		}
		w.mu.Unlock()
		for _, o := range owners {
			w.notify(o)
		}
	}()
}

// strip keeps what readiness is read from; a ConfigMap or a Secret loses all its
// data.
func strip(obj any) (any, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj, nil
	}
	for field := range u.Object {
		switch field {
		case "apiVersion", "kind", "metadata", "spec", "status":
		default:
			delete(u.Object, field)
		}
	}
	u.SetManagedFields(nil)
	u.SetAnnotations(nil)
	return u, nil
}
