package toolchain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"open-cluster-management.io/fleet-addon/test/env/internal/lockfile"
)

// Tools are the built programs and the manifests that belong to them.
type Tools struct {
	paths     map[string]string
	Manifests string
}

// Path of a program.
func (t Tools) Path(name string) string { return t.paths[name] }

// Ensure builds what is not in the cache yet and tells about it line by line on out. Two at once build once. Names are
// those of the tool modules; without any it is all that an environment needs.
func Ensure(ctx context.Context, out io.Writer, names ...string) (Tools, error) {
	wanted, err := chosen(names)
	if err != nil {
		return Tools{}, err
	}
	source, err := toolsDir()
	if err != nil {
		return Tools{}, err
	}
	root, err := Root()
	if err != nil {
		return Tools{}, err
	}
	b := builder{source: source, out: out, groups: wanted, tools: Tools{paths: map[string]string{}}}
	if err := b.place(root); err != nil {
		return Tools{}, err
	}
	if b.complete() {
		return b.tools, nil
	}
	lock, err := lockfile.Wait(ctx, filepath.Join(root, "build.lock"), fmt.Sprintf("the build of process %d", os.Getpid()),
		func(err error) { fmt.Fprintf(out, "build: waiting, %v\n", err) })
	if err != nil {
		return Tools{}, err
	}
	defer lock.Release()
	if err := b.run(ctx); err != nil {
		return Tools{}, err
	}
	return b.tools, nil
}

// partial begins the names of folders that are being filled.
const partial = ".partial-"

type builder struct {
	source string
	tools  Tools
	groups []group
	out    io.Writer
}

// place decides where each group's programs are.
func (b *builder) place(root string) error {
	for i := range b.groups {
		g := &b.groups[i]
		key, err := g.key(b.source)
		if err != nil {
			return err
		}
		g.dir = filepath.Join(root, key)
		for _, p := range g.programs {
			b.tools.paths[p.name] = filepath.Join(g.dir, p.name)
		}
		if g.path == ocmModule {
			b.tools.Manifests = filepath.Join(g.dir, "manifests")
		}
	}
	return nil
}

func (b builder) missing(g group) []program {
	var missing []program
	for _, p := range g.programs {
		if _, err := os.Stat(b.tools.Path(p.name)); err != nil {
			missing = append(missing, p)
		}
	}
	return missing
}

func (b builder) complete() bool {
	for _, g := range b.groups {
		if len(b.missing(g)) > 0 {
			return false
		}
	}
	return b.haveManifests()
}

func (b builder) run(ctx context.Context) error {
	// What a killed build left: nobody else builds here, the lock is ours.
	for _, g := range b.groups {
		stale, _ := filepath.Glob(filepath.Join(g.dir, partial+"*"))
		for _, dir := range stale {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
		if err := os.MkdirAll(g.dir, 0o755); err != nil {
			return err
		}
	}
	var cold []string
	for _, g := range b.groups {
		cold = append(cold, g.module+" "+g.cold)
	}
	fmt.Fprintf(b.out, "build: programs go to %s (a first build takes on two cores: %s)\n", filepath.Dir(b.groups[0].dir), strings.Join(cold, ", "))
	start := time.Now()
	for _, g := range b.groups {
		for _, p := range b.missing(g) {
			if err := b.build(ctx, g, p); err != nil {
				return err
			}
		}
	}
	if err := b.copyManifests(ctx); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "build: done in %s\n", time.Since(start).Round(time.Second))
	return nil
}

func (b builder) build(ctx context.Context, g group, p program) error {
	temp, err := os.MkdirTemp(g.dir, partial)
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	binary := filepath.Join(temp, p.name)
	flags := "-s -w"
	for _, stamp := range g.stamps {
		flags += " -X " + stamp
	}
	what := fmt.Sprintf("%s %s", p.name, g.version)
	done := report(b.out, what, g.cold)
	err = b.goCommand(ctx, g, temp, io.Discard, "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", binary, p.pkg)
	done(err)
	if err != nil {
		return fmt.Errorf("build %s: %w", what, err)
	}
	return os.Rename(binary, b.tools.Path(p.name))
}

// goCommand runs the go command in the group's tool module, apart from the caller's workspace and flags. What it leaves
// if it is killed is in temp.
func (b builder) goCommand(ctx context.Context, g group, temp string, stdout io.Writer, args ...string) error {
	var stderr strings.Builder
	cmd, err := guarded(ctx, "go", args...)
	if err != nil {
		return err
	}
	cmd.Dir = filepath.Join(b.source, g.module)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off", "GO111MODULE=on", "GOTMPDIR="+temp)
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errors.Join(fmt.Errorf("go %s: %w", args[0], err), errors.New(tail(stderr.String(), 20)))
	}
	return nil
}

// report prints a line at the start, one every 20 s, and one at the end.
func report(out io.Writer, what, cold string) (done func(error)) {
	fmt.Fprintf(out, "build: %s ...\n", what)
	start, stop := time.Now(), make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		ticker := time.NewTicker(20 * time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				fmt.Fprintf(out, "build: %s, %s so far (its module takes about %s the first time)\n", what, time.Since(start).Round(time.Second), cold)
			}
		}
	}()
	return func(err error) {
		close(stop)
		<-finished
		result := "built"
		if err != nil {
			result = "failed"
		}
		fmt.Fprintf(out, "build: %s %s in %s\n", what, result, time.Since(start).Round(100*time.Millisecond))
	}
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
