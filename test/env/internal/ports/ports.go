package ports

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strconv"
	"sync"

	"open-cluster-management.io/fleet-addon/test/env/internal/lockfile"
)

// Below the range from which Linux takes the local ports of outgoing connections, so that none is taken between the
// moment it is found free and the moment its server listens.
const low, high = 20000, 32000

// ErrNone says that no port of the range is free.
var ErrNone = errors.New("no free loopback port between 20000 and 32000; stop another environment with `env down`")

// Pool never hands out a port twice, nor one that another environment has but does not listen on yet: a lock file per
// port is held as long as the port.
type Pool struct {
	locks string
	mu    sync.Mutex
	taken map[int]*lockfile.Lock
}

// NewPool makes an empty pool; environments that share the folder locks keep out of each other's way.
func NewPool(locks string) *Pool { return &Pool{locks: locks, taken: map[int]*lockfile.Lock{}} }

// Next returns a free port.
func (p *Pool) Next() (int, error) {
	start := rand.IntN(high - low)
	for i := range high - low {
		port := low + (start+i)%(high-low)
		if p.take(port) == nil {
			return port, nil
		}
	}
	return 0, ErrNone
}

// Keep takes a port that must be the one it was.
func (p *Pool) Keep(port int) error {
	if err := p.take(port); err != nil {
		return fmt.Errorf("port %d, which this environment had before: %w; stop what has it, or start afresh with `env down` and `env up`", port, err)
	}
	return nil
}

// Release gives a port back.
func (p *Pool) Release(port int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if lock, ok := p.taken[port]; ok {
		lock.Release()
		delete(p.taken, port)
	}
}

var errInUse = errors.New("in use")

func (p *Pool) take(port int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken[port] != nil {
		return errInUse
	}
	lock, err := lockfile.Try(filepath.Join(p.locks, strconv.Itoa(port)), "an environment")
	if err != nil {
		return err
	}
	if !free(port) {
		lock.Release()
		return errInUse
	}
	p.taken[port] = lock
	return nil
}

// free tells whether nothing listens on the port.
func free(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return l.Close() == nil
}
