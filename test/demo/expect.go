package main

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/cli/groups"
	"open-cluster-management.io/fleet-addon/test/example"
)

// through tells whether a rollout has ended: all groups are through.
func through(r *v1alpha1.Rollout) bool {
	return meta.IsStatusConditionTrue(r.Status.Conditions, v1alpha1.RolloutComplete)
}

func breached(r *v1alpha1.Rollout) bool {
	return meta.IsStatusConditionTrue(r.Status.Conditions, v1alpha1.RolloutBreached)
}

// expectInOrder says what differs from a version that went from dev to stg to prod, each after the one before had been
// ready for minSuccessTime.
func expectInOrder(v example.Version, revision string, now map[string]deployed) error {
	for i, name := range example.Stages {
		d := now[name]
		switch {
		case d.Revision != revision:
			return fmt.Errorf("%s has revision %q, want %q", name, d.Revision, revision)
		case d.Version != v.Chart:
			return fmt.Errorf("%s runs chart %q, want %q", name, d.Version, v.Chart)
		case d.Stamps.DoneAt.IsZero():
			return fmt.Errorf("%s is not done", name)
		case d.Stamps.DoneAt.Sub(d.Stamps.ReadySeenAt) < example.Soak:
			return fmt.Errorf("%s was done %s after it was ready, want at least %s",
				name, d.Stamps.DoneAt.Sub(d.Stamps.ReadySeenAt), example.Soak)
		}
		if i == 0 {
			continue
		}
		before := now[example.Stages[i-1]]
		if d.Stamps.AdmittedAt.Before(before.Stamps.DoneAt) {
			return fmt.Errorf("%s was admitted at %s, before %s was done at %s", name, clock(d.Stamps.AdmittedAt),
				example.Stages[i-1], clock(before.Stamps.DoneAt))
		}
	}
	return nil
}

// expectHeld says what differs from a version that reached dev, timed out there, and changed nothing elsewhere.
func expectHeld(r *v1alpha1.Rollout, before, now map[string]deployed) error {
	if got := now[example.Stages[0]].Revision; got != r.Status.Revision {
		return fmt.Errorf("%s has revision %q, want %q", example.Stages[0], got, r.Status.Revision)
	}
	for _, lane := range r.Status.Lanes {
		for _, g := range lane.Groups {
			if g.Name == example.Stages[0] && (g.Counts.TimedOut != 1 || !g.Breached) {
				return fmt.Errorf("group %s: %s, breached %v; want 1 timed out, breached", g.Name, groups.States(g.Counts), g.Breached)
			}
			if g.Name != example.Stages[0] && g.Open {
				return fmt.Errorf("group %s is open", g.Name)
			}
		}
	}
	for _, name := range example.Stages[1:] {
		if was, is := before[name], now[name]; is.Generation != was.Generation || is.ID != was.ID || is.Version != was.Version {
			return fmt.Errorf("%s was touched: its work was at generation %d with chart %s, and is at %d with chart %s",
				name, was.Generation, was.Version, is.Generation, is.Version)
		}
	}
	return nil
}

func clock(t time.Time) string { return t.Format("15:04:05.000") }
