package lockfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTry(t *testing.T) {
	tests := map[string]struct {
		before   func(t *testing.T, path string)
		wantHeld bool
	}{
		"a new lock is free": {before: func(*testing.T, string) {}},
		"a held lock is held": {
			wantHeld: true,
			before:   func(t *testing.T, path string) { hold(t, path) },
		},
		"a released lock is free": {
			before: func(t *testing.T, path string) { hold(t, path).Release() },
		},
		"a lock whose file was removed holds nobody back": {
			before: func(t *testing.T, path string) {
				hold(t, path)
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "dir", "lock")
			test.before(t, path)
			lock, err := Try(path, "second")
			if errors.Is(err, ErrHeld) != test.wantHeld {
				t.Fatalf("want held %t, got %v", test.wantHeld, err)
			}
			if test.wantHeld && !strings.Contains(err.Error(), "first") {
				t.Errorf("want the holder in %q", err)
			}
			if err == nil {
				lock.Release()
			}
		})
	}
}

func TestWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first := hold(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	told := 0
	second, err := Wait(ctx, path, "second", func(error) {
		told++
		first.Release()
	})
	if err != nil {
		t.Fatal(err)
	}
	second.Release()
	if told != 1 {
		t.Errorf("want to be told once that the lock is held, got %d times", told)
	}
}

func hold(t *testing.T, path string) *Lock {
	t.Helper()
	lock, err := Try(path, "first")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lock.Release)
	return lock
}
