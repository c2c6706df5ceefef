// The demo starts a hub and three clusters on this machine, installs the add-on, and rolls out four versions of a bundle
// from dev to stg to prod. It checks what it shows, and fails if it differs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)
	err := run(ctx)
	if errors.Is(err, errInterrupted) {
		fmt.Fprintln(os.Stderr, "demo: interrupted")
		os.Exit(exitInterrupted)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "demo: FAILED: %v\n", err)
		os.Exit(1)
	}
}

// exitInterrupted is what shells take for Ctrl-C.
const exitInterrupted = 130

func run(ctx context.Context) error {
	root := flag.String("root", ".", "folder of the repository")
	dir := flag.String("dir", ".local/demo", "folder for the state of the clusters, relative to the repository")
	binary := flag.String("env", "", "the env command; built from test/env if empty")
	addon := flag.String("fleet-addon-binary", "bin/fleet-addon", "the binary that runs as manager and agents, relative to the repository")
	flag.Parse()
	base, err := filepath.Abs(*root)
	if err != nil {
		return err
	}
	env := &environment{
		root: base, dir: under(base, *dir), binary: *binary, addon: under(base, *addon), out: os.Stdout,
	}
	return demo{env: env, out: os.Stdout, screen: newScreen(os.Stdout), keep: os.Getenv("DEMO_KEEP") == "1"}.run(ctx)
}

func under(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}
