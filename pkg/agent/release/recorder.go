package release

import (
	"sync"

	"helm.sh/helm/v3/pkg/kube"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

// recorder is Helm's client for objects; it remembers the resourceVersion that
// each object had once Helm had written it. An informer that has not seen that
// version yet knows nothing of the new revision.
type recorder struct {
	*kube.Client
	mu   sync.Mutex
	seen map[objectID]string
}

type objectID struct {
	schema.GroupKind
	namespace, name string
}

func (r *recorder) Create(resources kube.ResourceList) (*kube.Result, error) {
	return r.record(r.Client.Create(resources))
}

func (r *recorder) Update(original, target kube.ResourceList, force bool) (*kube.Result, error) {
	return r.record(r.Client.Update(original, target, force))
}

func (r *recorder) UpdateThreeWayMerge(original, target kube.ResourceList, force bool) (*kube.Result, error) {
	return r.record(r.Client.UpdateThreeWayMerge(original, target, force))
}

func (r *recorder) record(result *kube.Result, err error) (*kube.Result, error) {
	if result == nil {
		return result, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[objectID]string{}
	}
	for _, list := range []kube.ResourceList{result.Created, result.Updated} {
		for _, info := range list {
			id := objectID{info.Mapping.GroupVersionKind.GroupKind(), info.Namespace, info.Name}
			r.seen[id] = info.ResourceVersion
		}
	}
	return result, err
}

// complete fills in what is known of objects that stand in a manifest.
func (r *recorder) complete(objects []manifest.Object, namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, o := range objects {
		for _, ns := range []string{o.Namespace, namespace, ""} {
			if v, ok := r.seen[objectID{o.GroupKind(), ns, o.Name}]; ok {
				objects[i].MinVersion = v
				break
			}
		}
	}
}
