package pods

import "sync"

// Binary is the program that stands for the image; it can be replaced while pods run, which restarts them.
type Binary struct {
	mu      sync.Mutex
	path    string
	changed chan struct{}
}

// NewBinary starts with a path, which may be empty.
func NewBinary(path string) *Binary { return &Binary{path: path, changed: make(chan struct{})} }

// Get returns the path, and a channel that closes when it is set anew.
func (b *Binary) Get() (string, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.path, b.changed
}

// Set replaces the path.
func (b *Binary) Set(path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.path = path
	close(b.changed)
	b.changed = make(chan struct{})
}
