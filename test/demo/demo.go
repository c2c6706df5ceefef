package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/test/example"
)

const (
	// period is how often the demo looks, and draws.
	period = 500 * time.Millisecond
	// limit is how long agents may take to come, and a version to get where it should: three soaks, or a deadline.
	limit = 4 * time.Minute
	// heldFor is how long a held version is watched after it was stopped, longer than a soak.
	heldFor = example.Soak + 5*time.Second
)

// errInterrupted is what becomes of every error after Ctrl-C.
var errInterrupted = errors.New("interrupted")

type demo struct {
	env    *environment
	out    io.Writer
	screen screen
	keep   bool
}

func (d demo) run(ctx context.Context) (err error) {
	if err := d.env.build(ctx); err != nil {
		return err
	}
	defer func() { err = d.end(ctx, err) }()
	description, err := d.env.up(ctx)
	if err != nil {
		return err
	}
	if err := d.env.install(ctx); err != nil {
		return err
	}
	api, err := connect(description)
	if err != nil {
		return err
	}
	outcome, err := d.roll(ctx, api)
	if err != nil {
		return err
	}
	if d.keep {
		d.tell(description)
	}
	fmt.Fprintf(d.out, "\ndemo: %s\n", outcome)
	return nil
}

// end takes the clusters down, also after Ctrl-C. After a failure their logs stay.
func (d demo) end(ctx context.Context, err error) error {
	failed := err != nil && ctx.Err() == nil
	switch {
	case ctx.Err() != nil:
		err = errInterrupted
	case d.keep && failed:
		fmt.Fprintf(d.out, "\nthe clusters go on running; `%s status --dir %s` says how to reach them\n", d.env.binary, d.env.dir)
		return err
	case d.keep:
		return nil
	}
	fmt.Fprintln(d.out, "\ntaking the clusters down")
	down, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	if failed {
		fmt.Fprintf(d.out, "the logs stay in %s\n", d.env.dir)
	}
	return errors.Join(err, d.env.down(down, failed))
}

// roll applies the examples and then one version after the other; it returns what happened, in a line.
func (d demo) roll(ctx context.Context, api clients) (string, error) {
	objects, err := example.Read(filepath.Join(d.env.root, "examples", "dev-stg-prod"))
	if err != nil {
		return "", err
	}
	base, rest, err := example.Split(objects)
	if err != nil {
		return "", err
	}
	if err := d.await(ctx, "agents on dev, stg and prod", func(ctx context.Context) (string, error) {
		missing, err := api.agentsMissing(ctx)
		return strings.Join(missing, ", "), err
	}); err != nil {
		return "", err
	}
	for _, o := range rest {
		if err := api.apply(ctx, o); err != nil {
			return "", err
		}
	}
	var outcome []string
	for _, v := range example.Versions {
		if err := d.version(ctx, api, v, base); err != nil {
			return "", fmt.Errorf("%s: %w", v.Name, err)
		}
		if v.Held {
			outcome = append(outcome, v.Name+" held at "+example.Stages[0])
		} else {
			outcome = append(outcome, v.Name+" ok")
		}
	}
	return strings.Join(outcome, ", "), nil
}

// await waits until missing returns nothing.
func (d demo) await(ctx context.Context, what string, missing func(context.Context) (string, error)) error {
	fmt.Fprintf(d.out, "waiting for the %s\n", what)
	left := ""
	err := wait.PollUntilContextTimeout(ctx, period, limit, true, func(ctx context.Context) (bool, error) {
		var err error
		left, err = missing(ctx)
		return err == nil && left == "", err
	})
	if err != nil {
		return fmt.Errorf("waiting for the %s, missing %s: %w", what, left, err)
	}
	return nil
}

// version rolls one version out and checks what has become of it.
func (d demo) version(ctx context.Context, api clients, v example.Version, base *unstructured.Unstructured) error {
	bundle, err := v.Of(base)
	if err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: bundle.GetNamespace(), Name: bundle.GetName()}
	before, err := api.deployed(ctx, key)
	if err != nil {
		return err
	}
	last, err := api.rollout(ctx, key)
	if err != nil {
		return err
	}
	d.screen.begin(v)
	if err := api.apply(ctx, bundle); err != nil {
		return err
	}
	r, err := d.follow(ctx, api, v, key, last.Status.Revision, func(r *v1alpha1.Rollout) bool {
		return through(r) || breached(r)
	})
	if err != nil {
		return err
	}
	switch {
	case v.Held && !breached(r):
		return fmt.Errorf("it went through, want it held at %s", example.Stages[0])
	case v.Held:
		if r, err = d.watchHeld(ctx, api, v, key); err != nil {
			return err
		}
	case !through(r):
		return fmt.Errorf("it was stopped, want it on all clusters: %s: %s", r.Status.Reason, r.Status.Message)
	}
	now, err := api.deployed(ctx, key)
	if err != nil {
		return err
	}
	if v.Held {
		return expectHeld(r, before, now)
	}
	return expectInOrder(v, r.Status.Revision, now)
}

// watchHeld watches a version that must stay where it is.
func (d demo) watchHeld(ctx context.Context, api clients, v example.Version, key types.NamespacedName) (*v1alpha1.Rollout, error) {
	var last *v1alpha1.Rollout
	until := time.Now().Add(heldFor)
	_, err := d.follow(ctx, api, v, key, "", func(r *v1alpha1.Rollout) bool {
		last = r
		return !breached(r) || time.Now().After(until)
	})
	if err == nil && !breached(last) {
		err = fmt.Errorf("it went on after it was stopped: %s: %s", last.Status.Reason, last.Status.Message)
	}
	return last, err
}

// follow shows a rollout until it is over, from when it is no longer about the revision before.
func (d demo) follow(ctx context.Context, api clients, v example.Version, key types.NamespacedName, before string,
	over func(*v1alpha1.Rollout) bool) (*v1alpha1.Rollout, error) {
	var r *v1alpha1.Rollout
	err := wait.PollUntilContextTimeout(ctx, period, limit, true, func(ctx context.Context) (bool, error) {
		var err error
		if r, err = api.rollout(ctx, key); err != nil {
			return false, err
		}
		if r.Status.Revision == before {
			return false, nil
		}
		d.screen.show(v, r, time.Now())
		return over(r), nil
	})
	if err != nil && r != nil && ctx.Err() == nil {
		return r, fmt.Errorf("not there after %s: %s: %s: %w", limit, r.Status.Reason, r.Status.Message, err)
	}
	return r, err
}

func (d demo) tell(description description) {
	fmt.Fprintf(d.out, "\nThe clusters go on running (DEMO_KEEP=1). kubectl is %s, and the kubeconfigs are:\n\n", description.Kubectl)
	for _, c := range append([]cluster{description.Hub}, description.Clusters...) {
		fmt.Fprintf(d.out, "  %-4s  export KUBECONFIG=%s\n", c.Name, c.Kubeconfig)
	}
	fmt.Fprintf(d.out, "\nmake env-down ENV_DIR=%s stops them.\n", d.env.dir)
}
