package env

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"open-cluster-management.io/fleet-addon/test/env/internal/lockfile"
	"open-cluster-management.io/fleet-addon/test/env/internal/process"
)

// Down stops all processes of the environment in dir and, unless keepData, removes the folder. What is down already
// stays down.
func Down(ctx context.Context, dir string, keepData bool, out io.Writer) error {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(out, "env: nothing in %s\n", dir)
		return nil
	}
	if err := owned(dir); err != nil {
		return err
	}
	err := Do(ctx, dir, Request{Action: ActionDown})
	if err != nil && !errors.Is(err, ErrNotRunning) {
		return err
	}
	stopped := err == nil
	limit, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	lock, err := lockfile.Wait(limit, LockFile(dir), fmt.Sprintf("`env down`, process %d", os.Getpid()), func(err error) {
		if !stopped {
			fmt.Fprintf(out, "env: waiting, %v\n", err)
		}
	})
	if err != nil {
		return fmt.Errorf("an `env up` still runs, end it first: %w", err)
	}
	defer lock.Release()
	if killed, err := process.KillRecorded(Records(dir), 10*time.Second); err != nil {
		return err
	} else if len(killed) > 0 {
		fmt.Fprintf(out, "env: ended %v, left by a supervisor that died\n", killed)
	}
	if keepData {
		fmt.Fprintf(out, "env: down, data kept in %s\n", dir)
		return nil
	}
	if err := removeData(dir); err != nil {
		return err
	}
	// The lock goes last: who waits for it sees that its file is gone.
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	fmt.Fprintln(out, "env: down, nothing left")
	return nil
}

func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}
