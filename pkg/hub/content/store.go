package content

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

const (
	// MaxInline is the largest compressed content, in bytes, that travels inside the
	// works; the agents fetch what is larger.
	MaxInline = 8 << 10
	// MaxStored is the largest compressed content, in bytes, that fits into an
	// object: base64 makes 1.4 MiB of it, etcd takes 1.5.
	MaxStored = 1 << 20
)

// Store creates Contents and knows which bundle needs which. Creating and
// collecting exclude each other, so that nothing is collected between the moment
// a bundle was told that it is there and the work that says so.
type Store struct {
	writer client.Writer
	live   client.Reader

	mu sync.Mutex
	// stored are names that were seen or created since the start.
	stored map[string]bool
	// needs has an entry for each bundle that was looked at.
	needs map[types.NamespacedName]map[string]bool
}

// NewStore returns a store; live reads past the cache.
func NewStore(writer client.Writer, live client.Reader) *Store {
	return &Store{
		writer: writer, live: live,
		stored: map[string]bool{}, needs: map[types.NamespacedName]map[string]bool{},
	}
}

// Need records which contents a bundle needs now, those of its kept revisions among
// them; none if it needs none. It must not be called before all of them are known.
func (s *Store) Need(bundle types.NamespacedName, names ...string) {
	needs := make(map[string]bool, len(names))
	for _, name := range names {
		needs[name] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.needs[bundle] = needs
}

// Forget drops a bundle that is gone.
func (s *Store) Forget(bundle types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.needs, bundle)
}

// Ensure creates a Content if it is not there. Need has to be called before.
func (s *Store) Ensure(ctx context.Context, name string, gz []byte, sum string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stored[name] {
		return nil
	}
	present := &metav1.PartialObjectMetadata{}
	present.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Content"))
	err := s.live.Get(ctx, client.ObjectKey{Name: name}, present)
	if apierrors.IsNotFound(err) {
		err = s.writer.Create(ctx, &v1alpha1.Content{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Content:    gz, SHA256Sum: sum, Size: int64(len(gz)),
		})
		if apierrors.IsAlreadyExists(err) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("store Content %s: %w", name, err)
	}
	s.stored[name] = true
	return nil
}

// lost records that a Content is gone and returns the bundles that need it.
func (s *Store) lost(name string) []types.NamespacedName {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stored[name] {
		return nil
	}
	delete(s.stored, name)
	var bundles []types.NamespacedName
	for bundle, needs := range s.needs {
		if needs[name] {
			bundles = append(bundles, bundle)
		}
	}
	return bundles
}

// needed tells whether a bundle needs the content, and whether every one of the
// bundles was looked at since the start; before that nobody can say no.
func (s *Store) needed(name string, bundles []types.NamespacedName) (needed, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range bundles {
		if _, ok := s.needs[b]; !ok {
			return false, false
		}
	}
	return s.isNeeded(name), true
}

func (s *Store) isNeeded(name string) bool {
	for _, needs := range s.needs {
		if needs[name] {
			return true
		}
	}
	return false
}

// remove deletes a Content unless a bundle has come to need it.
func (s *Store) remove(ctx context.Context, c *metav1.PartialObjectMetadata) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isNeeded(c.Name) {
		return nil
	}
	delete(s.stored, c.Name)
	err := s.writer.Delete(ctx, &v1alpha1.Content{ObjectMeta: metav1.ObjectMeta{Name: c.Name}},
		client.Preconditions{UID: &c.UID, ResourceVersion: &c.ResourceVersion})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Content %s: %w", c.Name, err)
	}
	return nil
}
