package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"open-cluster-management.io/fleet-addon/test/example"
)

// environment is the local clusters, reached through their command: they are a Go module of their own.
type environment struct {
	root, dir     string
	binary, addon string
	out           io.Writer
}

// description is what of DIR/env.json the demo needs.
type description struct {
	Hub      cluster   `json:"hub"`
	Clusters []cluster `json:"clusters"`
	Kubectl  string    `json:"kubectl"`
}

type cluster struct {
	Name       string `json:"name"`
	Kubeconfig string `json:"kubeconfig"`
}

// build builds the env command, so that its processes do not depend on a temporary file of `go run`.
func (e *environment) build(ctx context.Context) error {
	if e.binary == "" {
		e.binary = filepath.Join(e.root, "bin", "env")
		if err := e.command(ctx, "go", "build", "-C", filepath.Join(e.root, "test", "env"), "-o", e.binary, "./cmd/env"); err != nil {
			return fmt.Errorf("build the env command: %w", err)
		}
	}
	if _, err := os.Stat(e.addon); err != nil {
		return fmt.Errorf("%w; run `make build` first", err)
	}
	return nil
}

// up starts fresh clusters: what an earlier demo left is taken down first.
func (e *environment) up(ctx context.Context) (description, error) {
	var d description
	if err := e.down(ctx, false); err != nil {
		return d, err
	}
	args := []string{"up", "--dir", e.dir, "--fleet-addon-binary", e.addon}
	for _, name := range example.Stages {
		args = append(args, "--cluster", name+":environment="+name)
	}
	if err := e.command(ctx, e.binary, args...); err != nil {
		return d, fmt.Errorf("start the clusters: %w", err)
	}
	data, err := os.ReadFile(filepath.Join(e.dir, "env.json"))
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(data, &d)
}

// install installs the add-on's chart. The demo's clusters change within milliseconds, so short times are safe.
func (e *environment) install(ctx context.Context) error {
	err := e.command(ctx, e.binary, "install-chart", filepath.Join(e.root, "charts", "fleet-addon"), "--dir", e.dir,
		"--set", "settleTime=2s", "--set", "removalGrace=10s", "--wait")
	if err != nil {
		return fmt.Errorf("install the chart: %w", err)
	}
	return nil
}

// down stops the clusters; with keepData their logs stay.
func (e *environment) down(ctx context.Context, keepData bool) error {
	args := []string{"down", "--dir", e.dir}
	if keepData {
		args = append(args, "--keep-data")
	}
	if err := e.command(ctx, e.binary, args...); err != nil {
		return fmt.Errorf("stop the clusters: %w", err)
	}
	return nil
}

// command runs a program to its end. It gets a process group of its own: Ctrl-C reaches it through the context, once.
func (e *environment) command(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = e.root, e.out, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	return errors.Join(cmd.Run(), ctx.Err())
}
