package deploy

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"open-cluster-management.io/fleet-addon/pkg/agent/release"
	"open-cluster-management.io/fleet-addon/pkg/agent/verdict"
	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// memory is what the process remembers of BundleDeployments. All of it can be
// lost: it saves reads, and proves that readiness was unbroken.
type memory struct {
	mu    sync.Mutex
	notes map[string]*note
}

// note is used by one worker at a time, since a BundleDeployment is.
type note struct {
	uid       types.UID
	admission string

	// status as it was last written, and the resourceVersion it got: the cache may
	// be behind.
	status  v1alpha1.BundleDeploymentStatus
	version string

	verdict verdict.Memory
	// deployed is the release as it was last read; nil before.
	deployed *release.Deployed
	// tracked is the release whose objects are watched, since a time.
	tracked      release.Key
	trackedRev   int
	trackedSince time.Time

	// fetched is content from the hub that is not deployed yet; fetchAt is when it
	// may be fetched.
	content string
	fetchAt time.Time
	fetched []byte
}

// of returns the note on a BundleDeployment, a new one for a new object of the
// same name.
func (m *memory) of(bd *v1alpha1.BundleDeployment) *note {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.notes == nil {
		m.notes = map[string]*note{}
	}
	n := m.notes[bd.Name]
	if n == nil || n.uid != bd.UID {
		n = &note{uid: bd.UID}
		m.notes[bd.Name] = n
	}
	return n
}

func (m *memory) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.notes, name)
}

// last returns the status as it is on the API server.
func (n *note) last(bd *v1alpha1.BundleDeployment) v1alpha1.BundleDeploymentStatus {
	if n.version == "" {
		return bd.Status
	}
	if c, err := resourceversion.CompareResourceVersion(bd.ResourceVersion, n.version); err == nil && c >= 0 {
		return bd.Status
	}
	return n.status
}

// see takes over what was read of the release. What an informer must have seen
// at least is only known right after the write, so it is kept over later reads.
func (n *note) see(d release.Deployed) {
	if old := n.deployed; old != nil && old.Key == d.Key && old.Revision == d.Revision && old.DeploymentID == d.DeploymentID {
		d.Objects = old.Objects
	}
	n.deployed = &d
}
