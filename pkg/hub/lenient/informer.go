package lenient

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// annotation, in memory only, says why an object's spec could not be read.
const annotation = v1alpha1.GroupName + "/unreadable"

// Unreadable says why the object's spec could not be read, with the field; "" if it
// could. The spec is empty then; metadata, and mostly the status, are there.
func Unreadable(o client.Object) string { return o.GetAnnotations()[annotation] }

// Kind is a kind that is read leniently.
type Kind struct {
	Resource schema.GroupVersionResource
	// New makes an empty object, NewList a list of these objects.
	New     func() client.Object
	NewList func(items []client.Object, meta metav1.ListMeta) runtime.Object
}

// KindOf is the kind of the objects of a Go type; list puts them into their list.
func KindOf[T any, O interface {
	*T
	client.Object
}](resource schema.GroupVersionResource, list func(metav1.ListMeta, []T) runtime.Object) Kind {
	return Kind{
		Resource: resource,
		New:      func() client.Object { return O(new(T)) },
		NewList: func(items []client.Object, meta metav1.ListMeta) runtime.Object {
			out := make([]T, 0, len(items))
			for _, item := range items {
				out = append(out, *item.(O))
			}
			return list(meta, out)
		},
	}
}

// NewInformer is made for a cache's options: it makes informers that read these
// kinds leniently, and ordinary ones for all others.
func NewInformer(config *rest.Config, kinds ...Kind) (func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer, error) {
	hub, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for informers: %w", err)
	}
	return func(lw toolscache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		for _, k := range kinds {
			if fmt.Sprintf("%T", obj) == fmt.Sprintf("%T", k.New()) {
				lw = k.listWatch(hub)
			}
		}
		return toolscache.NewSharedIndexInformer(lw, obj, resync, indexers)
	}, nil
}

func (k Kind) listWatch(hub dynamic.Interface) toolscache.ListerWatcher {
	resource := hub.Resource(k.Resource)
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			list, err := resource.List(ctx, opts)
			if err != nil {
				return nil, err
			}
			items := make([]client.Object, 0, len(list.Items))
			for i := range list.Items {
				items = append(items, k.read(&list.Items[i]))
			}
			return k.NewList(items, metav1.ListMeta{ResourceVersion: list.GetResourceVersion(), Continue: list.GetContinue()}), nil
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			opts.AllowWatchBookmarks = true
			events, err := resource.Watch(ctx, opts)
			if err != nil {
				return nil, err
			}
			return watch.Filter(events, func(e watch.Event) (watch.Event, bool) {
				if u, ok := e.Object.(*unstructured.Unstructured); ok && e.Type != watch.Error {
					e.Object = k.read(u)
				}
				return e, true
			}), nil
		},
	}
}

// read makes a typed object, without its spec where that cannot be read.
func (k Kind) read(u *unstructured.Unstructured) client.Object {
	o := k.New()
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o)
	if err == nil {
		if annotations := o.GetAnnotations(); annotations[annotation] != "" {
			// Only this package says so.
			delete(annotations, annotation)
			o.SetAnnotations(annotations)
		}
		return o
	}
	for _, rest := range [][]string{{"apiVersion", "kind", "metadata", "status"}, {"apiVersion", "kind", "metadata"}} {
		part := make(map[string]any, len(rest))
		for _, field := range rest {
			if value, ok := u.Object[field]; ok {
				part[field] = value
			}
		}
		o = k.New()
		if runtime.DefaultUnstructuredConverter.FromUnstructured(part, o) == nil {
			break
		}
	}
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[annotation] = "spec: " + err.Error()
	o.SetAnnotations(annotations)
	return o
}
