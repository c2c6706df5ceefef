package bundle

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"

	"open-cluster-management.io/fleet-addon/pkg/hub/outcome"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/pkg/target"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

const (
	// ownWritesDeadline is how long the cache may take to show a write of ours. After
	// it the plan goes on: each write still carries the version that it was planned
	// for, so that a stale cache costs a conflict and nothing else.
	ownWritesDeadline = 30 * time.Second
	// statusInterval is the least time between two status writes to one object.
	statusInterval = time.Second
)

// memory is what one bundle's reconciles hand on to each other. Losing it delays
// a removal or costs a few reads, and changes no decision. Only one worker has a
// bundle at a time.
type memory struct {
	// absent is Result.Absent of the last plan.
	absent map[string]time.Time
	// own is the bundle's own edition, for one generation and without the bundle.
	own *own
	// editions that were read from what is kept, by revision, as long as they are used.
	editions map[string]*loaded
	// rendered ids by cluster, of what is rolled out and of the last completed revision.
	rendered, completed map[string]rendered
	// uses are what the options of the editions in use depend on.
	uses map[editionKey]target.Uses
	// told is what was logged last of the completed revision.
	told string
	// valuesOf is the ControllerRevision whose values are known to be there.
	valuesOf types.UID
	// readings of works by cluster.
	readings map[string]reading
	// tooLarge says why a work of this content and generation cannot be built.
	tooLarge *refusal

	// unwritten says by cluster why the last plan could not write its work.
	unwritten map[string]string

	// leases that were read live, by cluster.
	leases map[string]lease

	works     ownWrites
	rollout   ownWrites
	revisions ownWrites
	bundle    ownWrites

	rolloutWrittenAt, bundleWrittenAt time.Time
}

// reading is what one version of a work says.
type reading struct {
	uid     types.UID
	version string
	work    rollout.Work
	err     error
}

// lease is the version of a lease and when it was read.
type lease struct {
	version string
	at      time.Time
}

// refusal is an answer that only a new generation of the bundle can change.
type refusal struct {
	key  editionKey
	text string
}

// generation identifies what a bundle says.
type generation struct {
	uid        types.UID
	generation int64
}

// ownWrites are the versions that writes of ours have replaced: while the cache
// still shows one of them, it does not show the write. As each write carries the
// version that it replaces, any other version is a later one.
type ownWrites struct {
	replaced map[string][]string
	since    time.Time
}

// add records a write over a version ("" for a creation) of the object called key.
func (o *ownWrites) add(key, replaced string, now time.Time) {
	if o.replaced == nil {
		o.replaced = map[string][]string{}
	}
	o.replaced[key] = append(o.replaced[key], replaced)
	o.since = now
}

// seen drops what the cache shows by now, and tells whether that is everything.
// version returns the version in the cache, "" for an object that is not there.
func (o *ownWrites) seen(version func(key string) string, now time.Time) bool {
	if len(o.replaced) > 0 && now.Sub(o.since) > ownWritesDeadline {
		o.replaced = nil
	}
	for key, replaced := range o.replaced {
		if !contains(replaced, version(key)) {
			delete(o.replaced, key)
		}
	}
	return len(o.replaced) == 0
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// sawOwnWrites tells whether the facts show all that was written. After that the plan
// can be made again without deciding anything twice.
func (m *memory) sawOwnWrites(f *facts) bool {
	sawWorks := m.works.seen(func(cluster string) string {
		if w := f.works[cluster]; w != nil {
			return w.ResourceVersion
		}
		return ""
	}, f.now)
	sawRollout := m.rollout.seen(func(string) string {
		if f.rollout != nil {
			return f.rollout.ResourceVersion
		}
		return ""
	}, f.now)
	sawRevisions := m.revisions.seen(func(name string) string {
		for _, cr := range f.revisions {
			if cr.Name == name {
				return cr.ResourceVersion
			}
		}
		return ""
	}, f.now)
	return sawWorks && sawRollout && sawRevisions
}

// read reads the works, those only that changed since they were read last.
func (m *memory) read(works map[string]*workv1.ManifestWork) {
	old := m.readings
	m.readings = make(map[string]reading, len(works))
	for cluster, w := range works {
		r, ok := old[cluster]
		if !ok || r.uid != w.UID || r.version != w.ResourceVersion {
			r = reading{uid: w.UID, version: w.ResourceVersion}
			r.work, r.err = work.Read(w)
		}
		m.readings[cluster] = r
	}
}

// notWritten notes why a cluster's work could not be written, for people to be told.
// What goes away by itself, such as a conflict, is not worth it.
func (m *memory) notWritten(cluster string, err error) {
	if outcome.Waits(err) {
		return
	}
	if m.unwritten == nil {
		m.unwritten = map[string]string{}
	}
	m.unwritten[cluster] = err.Error()
}

// memories has one memory for each bundle that was looked at.
type memories struct {
	mu sync.Mutex
	of map[types.NamespacedName]*memory
}

func (m *memories) get(key types.NamespacedName) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil {
		m.of = map[types.NamespacedName]*memory{}
	}
	if m.of[key] == nil {
		m.of[key] = &memory{}
	}
	return m.of[key]
}

func (m *memories) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, key)
}
