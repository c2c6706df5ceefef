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

func TestPrintRollout(t *testing.T) {
	cases := map[string]struct {
		format, want string
		conditions   []metav1.Condition
		change       func(*v1alpha1.Rollout)
		wantErr      string
	}{
		"a table": {want: `demo/hello  revision abc  0/1 done  by RolloutPolicy/p
NotReady: waiting for group dev

GROUP  CLUSTERS  STATE          LEFT   WHY
dev    1         1 progressing         dev is not ready
`},
		"a warning": {
			conditions: []metav1.Condition{{Type: v1alpha1.RolloutWarning, Status: metav1.ConditionTrue, Message: "decision group qa has no clusters"}},
			want: `demo/hello  revision abc  0/1 done  by RolloutPolicy/p
NotReady: waiting for group dev
Warning: decision group qa has no clusters

GROUP  CLUSTERS  STATE          LEFT   WHY
dev    1         1 progressing         dev is not ready
`},
		"a bundle that cannot be read": {
			change: func(r *v1alpha1.Rollout) { r.Status.Done, r.Status.Lanes = "", nil },
			want: `demo/hello  revision abc  by RolloutPolicy/p
NotReady: waiting for group dev
`},
		"an unknown format names the two": {format: "wide", wantErr: `--output "wide": want json or yaml`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			r := held(tc.conditions...)
			if tc.change != nil {
				tc.change(r)
			}
			err := printRollout(&out, r, tc.format, time.Now())
			if tc.wantErr != "" {
				if err == nil || err.Error() != tc.wantErr {
					t.Errorf("error %v, want %s", err, tc.wantErr)
				}
				return
			}
			if diff := cmp.Diff(tc.want, out.String()); err != nil || diff != "" {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestPrintWhole(t *testing.T) {
	for format, want := range map[string]string{"json": `"kind": "Rollout"`, "yaml": "\nkind: Rollout\n"} {
		t.Run(format, func(t *testing.T) {
			var out strings.Builder
			if err := printRollout(&out, held(), format, time.Now()); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "managedFields") {
				t.Errorf("want %q and no managedFields in:\n%s", want, out.String())
			}
		})
	}
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
