package env

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"open-cluster-management.io/fleet-addon/test/env/internal/lockfile"
	"open-cluster-management.io/fleet-addon/test/env/internal/toolchain"
)

// SuperviseCommand is the hidden subcommand of this program that is the supervisor.
const SuperviseCommand = "supervise"

// Up builds what is missing, starts the environment and returns when all clusters are joined. One that runs already is
// checked and repaired. It must be called from a program that has the supervise subcommand.
func Up(ctx context.Context, o Options, out io.Writer) error {
	dir, err := StateDir(o.Name, o.Dir)
	if err != nil {
		return err
	}
	if err := owned(dir); err != nil {
		return err
	}
	o.Dir = dir
	if _, err := toolchain.Ensure(ctx, out); err != nil {
		return err
	}
	for {
		lock, err := lockfile.Try(LockFile(dir), fmt.Sprintf("process %d", os.Getpid()))
		if errors.Is(err, lockfile.ErrHeld) {
			again, err := join(ctx, o, out)
			if again {
				continue
			}
			return err
		}
		if err != nil {
			return err
		}
		defer lock.Release()
		return start(ctx, o, lock, out)
	}
}

// join deals with an environment that somebody else starts or runs: it waits for its start and lets it repair itself.
// It says again if the other one gave up.
func join(ctx context.Context, o Options, out io.Writer) (again bool, err error) {
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	for first := true; ; first = false {
		status, err := GetStatus(ctx, o.Dir)
		switch {
		case err == nil && status.Phase == PhaseUp:
			return false, repair(ctx, o, status, out)
		case err != nil && !errors.Is(err, ErrNotRunning):
			return false, err
		}
		if lock, err := lockfile.Try(LockFile(o.Dir), fmt.Sprintf("process %d", os.Getpid())); err == nil {
			lock.Release()
			return true, nil
		}
		if first {
			fmt.Fprintf(out, "env: %s is being started by somebody else, waiting\n", o.Name)
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-ticker.C:
		}
	}
}

func repair(ctx context.Context, o Options, status Status, out io.Writer) error {
	running, err := LoadOptions(o.Dir)
	if err != nil {
		return err
	}
	if o.differs(running) {
		return fmt.Errorf("environment %s runs with other clusters (%v, set %s, lease %s): `env down` first, or choose another --name",
			o.Name, running.Clusters, running.ClusterSet, running.Lease)
	}
	if o.Binary != "" && o.Binary != status.Binary {
		if err := Do(ctx, o.Dir, Request{Action: ActionSetBinary, Path: o.Binary}); err != nil {
			return err
		}
	}
	if !status.Healthy {
		for _, problem := range status.Problems {
			fmt.Fprintf(out, "env: %s\n", problem)
		}
		fmt.Fprintf(out, "env: repairing\n")
		if err := Do(ctx, o.Dir, Request{Action: ActionRepair}); err != nil {
			return err
		}
	}
	for cluster, faults := range status.Faults {
		fmt.Fprintf(out, "env: %s has simulated faults, left as they are: %v\n", cluster, faults)
	}
	fmt.Fprintf(out, "env: %s is up already\n", o.Name)
	return nil
}

// start starts the supervisor, hands it the lock, and follows it until all is up. Should this process end before, the
// supervisor ends itself and all that it started.
func start(ctx context.Context, o Options, lock *lockfile.Lock, out io.Writer) error {
	o, err := prepare(o, out)
	if err != nil {
		return err
	}
	if err := o.Save(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := openLog(SupervisorLog(o.Dir))
	if err != nil {
		return err
	}
	defer log.Close()
	lifelineRead, lifeline, err := os.Pipe()
	if err != nil {
		return err
	}
	progress, progressWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	defer progress.Close()
	cmd := exec.Command(self, SuperviseCommand, "--dir", o.Dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{lock.File, lifelineRead, progressWrite}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	lifelineRead.Close()
	progressWrite.Close()
	if err != nil {
		return fmt.Errorf("start the supervisor: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { lifeline.Close() })
	defer stop()
	defer lifeline.Close()
	if err := follow(progress, out); err != nil {
		lifeline.Close()
		_ = cmd.Wait() // it stops all that it started first
		return fmt.Errorf("environment %s did not start, see %s: %w", o.Name, SupervisorLog(o.Dir), errors.Join(ctx.Err(), err))
	}
	return cmd.Process.Release()
}
