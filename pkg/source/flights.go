package source

import (
	"context"
	"errors"
	"sync"
)

// flights gets each value once, however many ask for it at the same time. The zero value
// is ready.
type flights[V any] struct {
	mu      sync.Mutex
	flights map[string]*flight[V]
}

type flight[V any] struct {
	done  chan struct{}
	value V
	err   error
}

// do returns the value of key, which get makes. An error is kept like a value, because
// fifty bundles of one dead server should wait for it once; but not that a caller gave
// up, which says nothing about the next one.
func (f *flights[V]) do(ctx context.Context, key string, get func() (V, error)) (V, error) {
	for {
		mine, leads := f.join(key)
		if leads {
			mine.value, mine.err = get()
			if gaveUp(mine.err) && ctx.Err() != nil {
				f.forget(key)
			}
			close(mine.done)
			return mine.value, mine.err
		}
		select {
		case <-mine.done:
			if !f.flies(key, mine) {
				continue
			}
			return mine.value, mine.err
		case <-ctx.Done():
			var none V
			return none, ctx.Err()
		}
	}
}

func (f *flights[V]) join(key string) (it *flight[V], leads bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if it, ok := f.flights[key]; ok {
		return it, false
	}
	it = &flight[V]{done: make(chan struct{})}
	if f.flights == nil {
		f.flights = map[string]*flight[V]{}
	}
	f.flights[key] = it
	return it, true
}

func (f *flights[V]) forget(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.flights, key)
}

// flies says whether it is still what key stands for.
func (f *flights[V]) flies(key string, it *flight[V]) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.flights[key] == it
}

func gaveUp(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
