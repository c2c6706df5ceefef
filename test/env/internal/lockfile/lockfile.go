package lockfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// ErrHeld says that another process has the lock.
var ErrHeld = errors.New("lock is held")

// Lock is a held lock. Its File may be handed to a child process, which then holds the lock too.
type Lock struct{ File *os.File }

// Try takes the lock on path or fails with ErrHeld. The file's text names the holder for people.
func Try(path, holder string) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("folder of lock %s: %w", path, err)
	}
	for {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open lock %s: %w", path, err)
		}
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			defer file.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, fmt.Errorf("%s, by %s: %w", path, readHolder(path), ErrHeld)
			}
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		// The folder may have been removed, and the lock with it, between open and lock.
		if !current(file, path) {
			file.Close()
			continue
		}
		if err := file.Truncate(0); err == nil {
			_, _ = file.WriteAt([]byte(holder), 0)
		}
		return &Lock{File: file}, nil
	}
}

// Wait takes the lock as soon as it is free; waiting is called once, with the reason, if it is not free at once.
func Wait(ctx context.Context, path, holder string, waiting func(error)) (*Lock, error) {
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for first := true; ; first = false {
		lock, err := Try(path, holder)
		if !errors.Is(err, ErrHeld) {
			return lock, err
		}
		if first {
			waiting(err)
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, ctx.Err())
		case <-ticker.C:
		}
	}
}

// Release gives the lock back, as far as this process holds it.
func (l *Lock) Release() { _ = l.File.Close() }

func current(file *os.File, path string) bool {
	held, err := file.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(held, now)
}

func readHolder(path string) string {
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 {
		return "another process"
	}
	return strings.TrimSpace(string(data))
}
