package health

import (
	"fmt"
	"sort"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"open-cluster-management.io/fleet-addon/pkg/agent/fault"
	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

const (
	// maxListed bounds the list of objects that are not ready.
	maxListed = 10
	// maxMessage bounds the message of one of them, in bytes.
	maxMessage = 256
)

// Summary is the health of a release.
type Summary struct {
	// Total and NotReady count objects.
	Total, NotReady int
	// Listed are the first of those that are not ready, the worst first.
	Listed []v1alpha1.ObjectState
	// Breaks changes whenever an object was seen that was not ready, also if all are
	// ready again.
	Breaks uint64
	// Unobserved is true while a kind has not been listed for the first time.
	Unobserved bool
	// Unresolved is true if a kind is not known to the API server: no event will
	// tell when it is.
	Unresolved bool
}

// Ready is true if every object is.
func (s Summary) Ready() bool { return s.NotReady == 0 }

// Look says how the objects of an owner are, from what was watched. An object
// whose watched copy is older than what was applied is in progress.
func (w *Watcher) Look(owner string) Summary {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tracked[owner]
	if t == nil {
		return Summary{}
	}
	w.resolve(owner)
	// Before the objects: a break in between counts the next time.
	sum := Summary{Total: len(t.objects), Breaks: w.breaks.of(owner)}
	for _, o := range t.objects {
		state, message := w.stateOf(t, o, &sum)
		if state == status.CurrentStatus {
			continue
		}
		sum.Listed = append(sum.Listed, v1alpha1.ObjectState{
			Kind:      kindName(o),
			Namespace: t.place(o),
			Name:      o.Name,
			State:     state.String(),
			Message:   fault.Cut(message, maxMessage),
		})
	}
	sum.NotReady = len(sum.Listed)
	sort.SliceStable(sum.Listed, func(i, j int) bool { return rank[sum.Listed[i].State] < rank[sum.Listed[j].State] })
	sum.Listed = sum.Listed[:min(len(sum.Listed), maxListed)]
	return sum
}

// rank puts the state that explains most first.
var rank = map[string]int{
	status.FailedStatus.String():      0,
	status.NotFoundStatus.String():    1,
	status.TerminatingStatus.String(): 2,
	status.InProgressStatus.String():  3,
	status.UnknownStatus.String():     4,
}

func (w *Watcher) stateOf(t *tracked, o manifest.Object, sum *Summary) (status.Status, string) {
	r, ok := t.resources[o.GroupKind()]
	if !ok {
		sum.Unresolved = true
		return status.UnknownStatus, fmt.Sprintf("the API server does not know %s", o.GroupVersionKind)
	}
	k := w.kinds[r.gvr]
	if k == nil || !k.informer.HasSynced() {
		sum.Unobserved = true
		return status.UnknownStatus, "not observed yet"
	}
	key := o.Name
	if r.namespaced {
		key = t.place(o) + "/" + o.Name
	}
	obj, exists, err := k.informer.GetStore().GetByKey(key)
	u, isObject := obj.(*unstructured.Unstructured)
	if err != nil || !exists || !isObject {
		return status.NotFoundStatus, "the object does not exist, or lost its label " + w.label
	}
	if older(u.GetResourceVersion(), o.MinVersion) {
		return status.InProgressStatus, "not observed since it was applied"
	}
	result, err := status.Compute(u)
	if err != nil {
		return status.UnknownStatus, err.Error()
	}
	return result.Status, result.Message
}

// place is the namespace in which an object is; none for a cluster-scoped one.
func (t *tracked) place(o manifest.Object) string {
	r, ok := t.resources[o.GroupKind()]
	switch {
	case ok && !r.namespaced:
		return ""
	case o.Namespace == "":
		return t.namespace
	}
	return o.Namespace
}

// older is false if the versions cannot be compared: some aggregated API servers
// have others than Kubernetes promises.
func older(version, than string) bool {
	if than == "" {
		return false
	}
	c, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && c < 0
}

func kindName(o manifest.Object) string {
	if o.Group == "" {
		return o.Kind
	}
	return o.Kind + "." + o.Group
}
