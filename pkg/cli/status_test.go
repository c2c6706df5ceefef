package cli

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func held(conditions ...metav1.Condition) *v1alpha1.Rollout {
	return &v1alpha1.Rollout{
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "hello", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "x"}}},
		Status: v1alpha1.RolloutStatus{
			Revision: "abc", Done: "0/1", Source: "RolloutPolicy/p", Reason: "NotReady", Message: "waiting for group dev", Conditions: conditions,
			Lanes: []v1alpha1.LaneStatus{{Name: "all", Groups: []v1alpha1.GroupStatus{
				{Name: "dev", Open: true, Message: "dev is not ready", Counts: v1alpha1.StateCounts{Total: 1, Progressing: 1}},
			}}},
		},
	}
}

func pinned(message string) metav1.Condition {
	return metav1.Condition{Type: v1alpha1.RolloutPinned, Status: metav1.ConditionTrue, Message: message}
}

const devTable = `
GROUP  TOTAL  DONE  SOAKING  PROGRESSING  LEFT   FAILED  TIMED OUT  PENDING  REASON
dev    1      -     -        1                   -       -          -        dev is not ready
`

func TestPrintTable(t *testing.T) {
	cases := map[string]struct {
		change func(*v1alpha1.Rollout)
		want   string
	}{
		"a table": {want: `demo/hello  revision abc  0/1 done  by RolloutPolicy/p
NotReady: waiting for group dev
` + devTable},
		"a warning and a pin": {
			change: func(r *v1alpha1.Rollout) {
				r.Status.Conditions = []metav1.Condition{pinned("revision abc is pinned; the bundle's own is def"),
					{Type: v1alpha1.RolloutWarning, Status: metav1.ConditionTrue, Message: "decision group qa has no clusters"}}
			},
			want: `demo/hello  revision abc  0/1 done  by RolloutPolicy/p
Pinned: revision abc is pinned; the bundle's own is def
NotReady: waiting for group dev
Warning: decision group qa has no clusters
` + devTable},
		"a held lane, and what waits for a confirmation": {
			change: func(r *v1alpha1.Rollout) {
				r.Status.Lanes[0].Reason, r.Status.Lanes[0].Message = "GroupVanished", "group stg has no clusters any more"
				r.Status.Confirmations = []v1alpha1.ConfirmationRequest{
					{Reason: v1alpha1.ConfirmGroup, Subject: "all/stg", Message: "group stg has no clusters any more"},
					{Reason: v1alpha1.ConfirmRemovals, Message: "8 of 9 clusters would lose the bundle"},
				}
			},
			want: `demo/hello  revision abc  0/1 done  by RolloutPolicy/p
NotReady: waiting for group dev
Held: lane all: GroupVanished: group stg has no clusters any more
To confirm: GroupVanished all/stg
To confirm: RemovalGuard: 8 of 9 clusters would lose the bundle
` + devTable},
		"a change that the manager has not seen": {
			change: func(r *v1alpha1.Rollout) { r.Generation = 2; r.Status.ObservedGeneration = 1 },
			want: `demo/hello  revision abc  0/1 done  by RolloutPolicy/p
The manager has not looked at the last change of the Rollout's spec yet.
NotReady: waiting for group dev
` + devTable},
		"groups that are not listed": {
			change: func(r *v1alpha1.Rollout) { r.Status.Lanes[0].GroupsOmitted = 7 },
			want: `demo/hello  revision abc  0/1 done  by RolloutPolicy/p
NotReady: waiting for group dev
` + devTable + "Not listed, because the Rollout's status would be too large: 7 more groups of lane all\n"},
		"a rollout that no manager has looked at": {
			change: func(r *v1alpha1.Rollout) { r.Status = v1alpha1.RolloutStatus{} },
			want:   "demo/hello  not planned yet: does the manager run?\n",
		},
		"a bundle that cannot be read": {
			change: func(r *v1alpha1.Rollout) { r.Status.Done, r.Status.Lanes = "", nil },
			want: `demo/hello  revision abc  by RolloutPolicy/p
NotReady: waiting for group dev
`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			r := held()
			if tc.change != nil {
				tc.change(r)
			}
			err := printTable(&out, r, nil, noon)
			if diff := cmp.Diff(tc.want, out.String()); err != nil || diff != "" {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestStatusFlags(t *testing.T) {
	cases := map[string]struct {
		flags statusOptions
		want  string
	}{
		"a table":                         {},
		"a watch with an end":             {flags: statusOptions{watch: true, timeout: time.Minute}},
		"an unknown format names the two": {flags: statusOptions{output: "wide"}, want: `--output "wide": want json or yaml`},
		"a watch prints no documents":     {flags: statusOptions{watch: true, output: "json"}, want: "--watch and --output: a watch shows a table; leave one of the two out"},
		"a watch lists no clusters":       {flags: statusOptions{watch: true, clusters: true}, want: "--watch and --clusters: the list of clusters shows one moment; leave one of the two out"},
		"an end without a watch":          {flags: statusOptions{timeout: time.Minute}, want: "--timeout ends a watch: add --watch"},
		"an end before the start":         {flags: statusOptions{watch: true, timeout: -time.Minute}, want: "--timeout -1m0s: want a positive duration such as 20m, or 0 for no end"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := tc.flags.check(); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("error %q, want %q", got, tc.want)
			}
		})
	}
}

func TestPrintWhole(t *testing.T) {
	for format, want := range map[string]string{"json": `"kind": "Rollout"`, "yaml": "\nkind: Rollout\n"} {
		t.Run(format, func(t *testing.T) {
			var out strings.Builder
			if err := printWhole(&out, held(), nil, format); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "managedFields") {
				t.Errorf("want %q and no managedFields in:\n%s", want, out.String())
			}
		})
	}
}

// pinnedSince is a rollout whose spec was changed after its status was written.
func pinnedSince(r *v1alpha1.Rollout) *v1alpha1.Rollout {
	r.Generation, r.Status.ObservedGeneration = 3, 2
	return r
}

func TestExitStatus(t *testing.T) {
	complete := metav1.Condition{Type: v1alpha1.RolloutComplete, Status: metav1.ConditionTrue}
	breached := metav1.Condition{Type: v1alpha1.RolloutBreached, Status: metav1.ConditionTrue}
	cases := map[string]struct {
		err  error
		want int
	}{
		"complete":                      {outcome(held(complete)), 0},
		"breached":                      {outcome(held(breached)), 1},
		"under way":                     {outcome(held()), 2},
		"complete before the last pin":  {outcome(pinnedSince(held(complete))), 2},
		"something that cannot be read": {errors.New("no hub"), 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := ExitStatus(tc.err); got != tc.want {
				t.Errorf("exit status %d, want %d", got, tc.want)
			}
		})
	}
}
