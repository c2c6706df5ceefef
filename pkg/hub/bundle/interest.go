package bundle

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/fleet-addon/pkg/target"
)

// interest is what of the hub's clusters can change the plan of a bundle, as its last
// reconcile has found it. It only ever saves work: without one, nil, everything counts.
type interest struct {
	// uses are those of the edition that is rolled out, and of the one that newcomers get.
	uses []target.Uses
	// selected are the clusters that the bundle selects. It is never changed.
	selected map[string]rendered
	// lenders are namespaces whose ClusterGroups the bundle can name.
	lenders []string
}

// interestOf is what counts for a bundle by the facts that its plan is made of; nil
// while nobody can tell which clusters it selects.
func interestOf(f *facts, q *question, m *memory) *interest {
	if !q.matched {
		return nil
	}
	i := &interest{selected: m.rendered}
	known := m.uses
	m.uses = map[editionKey]target.Uses{}
	for _, e := range []*edition{q.desired.edition, q.completed.edition} {
		if e == nil {
			continue
		}
		options, ok := known[e.key]
		if !ok {
			options = target.UsesOfOptions(e.bundle)
		}
		m.uses[e.key] = options
		i.uses = append(i.uses, target.UsesOfTerms(e.bundle, f.groups).And(options))
	}
	for l := range f.lenders {
		i.lenders = append(i.lenders, f.lenders[l].Reach.Namespace)
	}
	return i
}

// affected tells whether a change of what a cluster says of itself can matter.
func (i *interest) affected(old, new *target.Cluster) bool {
	return i == nil || slices.ContainsFunc(i.uses, func(u target.Uses) bool { return u.Affected(old, new) })
}

// selects tells whether the bundle goes to a cluster.
func (i *interest) selects(cluster string) bool {
	if i == nil {
		return true
	}
	_, ok := i.selected[cluster]
	return ok
}

// usesValues tells whether values of clusters matter.
func (i *interest) usesValues() bool {
	return i == nil || slices.ContainsFunc(i.uses, func(u target.Uses) bool { return !u.Values.None() })
}

// borrows tells whether one of the namespaces lends ClusterGroups to the bundle.
func (i *interest) borrows(namespaces []string) bool {
	return i == nil || slices.ContainsFunc(i.lenders, func(l string) bool { return slices.Contains(namespaces, l) })
}

// interests has one of each bundle that no reconcile is looking at.
type interests struct {
	mu sync.RWMutex
	of map[types.NamespacedName]*interest
}

// begin makes everything count for a bundle, from before a reconcile reads anything
// until it has settled what counts: no change in between is lost.
func (i *interests) begin(bundle types.NamespacedName) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.of, bundle)
}

// settle says what counts for a bundle from now on; nil is everything.
func (i *interests) settle(bundle types.NamespacedName, is *interest) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.of == nil {
		i.of = map[types.NamespacedName]*interest{}
	}
	i.of[bundle] = is
}

// get returns what counts for a bundle; nil while everything does.
func (i *interests) get(bundle types.NamespacedName) *interest {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.of[bundle]
}
