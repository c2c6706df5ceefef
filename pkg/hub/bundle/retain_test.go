package bundle

import (
	"k8s.io/utils/clock"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/revision"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// numbered are ControllerRevisions of these revisions with the numbers 1, 2, 3...
func numbered(hashes ...string) []*appsv1.ControllerRevision {
	var out []*appsv1.ControllerRevision
	for i, hash := range hashes {
		out = append(out, &appsv1.ControllerRevision{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.AnnotationRevision: hash}}, Revision: int64(i + 1),
		})
	}
	return out
}

func TestSurplus(t *testing.T) {
	tests := map[string]struct {
		limit int
		used  []string
		want  []string
	}{
		"within the limit":             {limit: 5},
		"one over the limit":           {limit: 4, want: []string{"a"}},
		"the oldest first":             {limit: 2, want: []string{"a", "b", "c"}},
		"never those in use":           {limit: 2, used: []string{"a", "c"}, want: []string{"b", "d", "e"}},
		"more in use than the limit":   {limit: 1, used: []string{"a", "b", "c"}, want: []string{"d", "e"}},
		"a limit of 0 keeps those too": {limit: 0, used: []string{"e"}, want: []string{"a", "b", "c", "d"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			used := map[string]bool{}
			for _, hash := range tt.used {
				used[hash] = true
			}
			var got []string
			for _, cr := range surplus(numbered("a", "b", "c", "d", "e"), tt.limit, used) {
				got = append(got, revision.Hash(cr))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("deleted (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInUse(t *testing.T) {
	f := askable()
	f.works = works(f, "dev")
	f.rollout = &v1alpha1.Rollout{}
	f.rollout.Spec.Revision, f.rollout.Status.Record.CompletedRevision = "pinned", "completed"
	q := (&Reconciler{Clock: clock.RealClock{}}).ask(f, &memory{})
	q.own.revision, q.input.Revision = "own", "force"
	got := inUse(f, q, &rollout.Result{Record: rollout.Record{CompletedRevision: "now"}})
	want := map[string]bool{"own": true, "force": true, "pinned": true, "completed": true, "now": true, "r": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in use (-want +got):\n%s", diff)
	}
}
