package main

import (
	"strings"
	"testing"
	"time"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/test/example"
)

// inOrder are three clusters that were done one after the other.
func inOrder() map[string]deployed {
	out := map[string]deployed{}
	for i, name := range example.Stages {
		start := noon.Add(time.Duration(i) * 30 * time.Second)
		out[name] = deployed{Version: "2.0.0", Generation: 2, Work: rollout.Work{ID: "id", Revision: "new", Stamps: rollout.Stamps{
			AdmittedAt: start, ReadySeenAt: start.Add(2 * time.Second), DoneAt: start.Add(25 * time.Second)}}}
	}
	return out
}

func change(name string, f func(*deployed)) map[string]deployed {
	out := inOrder()
	d := out[name]
	f(&d)
	out[name] = d
	return out
}

func check(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestExpectInOrder(t *testing.T) {
	cases := map[string]struct {
		now  map[string]deployed
		want string
	}{
		"in order":           {now: inOrder()},
		"one left behind":    {now: change("prod", func(d *deployed) { d.Revision = "old" }), want: `prod has revision "old"`},
		"not deployed":       {now: change("stg", func(d *deployed) { d.Version = "" }), want: `stg runs chart ""`},
		"not done":           {now: change("prod", func(d *deployed) { d.Stamps.DoneAt = time.Time{} }), want: "prod is not done"},
		"no soak":            {now: change("dev", func(d *deployed) { d.Stamps.ReadySeenAt = noon.Add(10 * time.Second) }), want: "dev was done 15s after"},
		"too early":          {now: change("prod", func(d *deployed) { d.Stamps.AdmittedAt = noon }), want: "prod was admitted at 12:00:00.000, before stg was done"},
		"no work whatsoever": {now: map[string]deployed{}, want: "dev has revision"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			check(t, expectInOrder(example.Version{Chart: "2.0.0"}, "new", tc.now), tc.want)
		})
	}
}

func TestExpectHeld(t *testing.T) {
	held := func(dev, stg v1alpha1.GroupStatus) *v1alpha1.Rollout {
		r := rolloutOf(dev, stg)
		r.Status.Revision = "new"
		return r
	}
	timedOut := group("dev", v1alpha1.StateCounts{TimedOut: 1}, stopped)
	waiting := group("stg", v1alpha1.StateCounts{Pending: 1}, closed)
	cases := map[string]struct {
		rollout *v1alpha1.Rollout
		now     map[string]deployed
		want    string
	}{
		"held":            {rollout: held(timedOut, waiting), now: inOrder()},
		"dev not reached": {rollout: held(timedOut, waiting), now: change("dev", func(d *deployed) { d.Revision = "old" }), want: "dev has revision"},
		"not timed out":   {rollout: held(group("dev", v1alpha1.StateCounts{Progressing: 1}), waiting), now: inOrder(), want: "group dev: 1 progressing"},
		"not stopped":     {rollout: held(group("dev", v1alpha1.StateCounts{TimedOut: 1}), waiting), now: inOrder(), want: "breached false"},
		"stg open":        {rollout: held(timedOut, group("stg", v1alpha1.StateCounts{Pending: 1})), now: inOrder(), want: "group stg is open"},
		"stg written":     {rollout: held(timedOut, waiting), now: change("stg", func(d *deployed) { d.Generation++ }), want: "stg was touched"},
		"prod changed":    {rollout: held(timedOut, waiting), now: change("prod", func(d *deployed) { d.Version = "3.0.0" }), want: "prod was touched"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { check(t, expectHeld(tc.rollout, inOrder(), tc.now), tc.want) })
	}
}
