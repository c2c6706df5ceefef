package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// threeGroups is a rollout with dev done, stg soaking for 14 s more and prod closed.
func threeGroups() *v1alpha1.Rollout {
	r := held()
	r.Status.Reason, r.Status.Message, r.Status.Done = "Soaking", "waiting for group stg: it soaks", "2/15"
	r.Status.Lanes[0].Groups = []v1alpha1.GroupStatus{
		{Name: "dev", Open: true, Passed: true, Reason: "Complete", Message: "2 clusters are done", Counts: v1alpha1.StateCounts{Total: 2, Done: 2}},
		{Name: "stg", Open: true, Reason: "Soaking", Message: "it soaks", NextAt: &metav1.Time{Time: noon.Add(14 * time.Second)},
			Counts: v1alpha1.StateCounts{Total: 8, Soaking: 1, Pending: 7}, Next: 7, NextClusters: []string{"s1", "s2", "s3", "s4", "s5", "s6", "s7"}},
		{Name: "prod", Reason: "WaitingForGroup", Message: "waiting for group stg: it soaks", Counts: v1alpha1.StateCounts{Total: 5, Pending: 5}},
	}
	return r
}

func TestPlan(t *testing.T) {
	const next = "Next: 2026-05-01T12:00:14Z (in 14s), when a soak or a deadline in group stg ends."
	cases := map[string]struct {
		change func(*v1alpha1.Rollout)
		want   string
	}{
		"under way": {want: `demo/hello  revision abc  2/15 done  by RolloutPolicy/p
Soaking: waiting for group stg: it soaks

GROUP  PENDING  ADMITTED NOW                    NEXT LOOK  REASON
dev    -        -                               -          Complete: 2 clusters are done
stg    7        7 (s1, s2, s3, s4, s5, 2 more)  in 14s     Soaking: it soaks
prod   5        -                               -          WaitingForGroup: waiting for group stg: it soaks

7 clusters: admitted now.
` + next},
		"paused": {
			change: func(r *v1alpha1.Rollout) {
				r.Status.Reason, r.Status.Message = "Paused", "paused by the Rollout"
				r.Status.Lanes[0].Groups = r.Status.Lanes[0].Groups[1:2]
			},
			want: `demo/hello  revision abc  2/15 done  by RolloutPolicy/p
Paused: paused by the Rollout

GROUP  PENDING  IF RESUMED                      NEXT LOOK  REASON
stg    7        7 (s1, s2, s3, s4, s5, 2 more)  in 14s     Soaking: it soaks

Nothing is admitted while paused; resumed now, the rollout would admit 7 clusters.
` + next},
		"complete": {
			change: func(r *v1alpha1.Rollout) {
				r.Status.Conditions = []metav1.Condition{{Type: v1alpha1.RolloutComplete, Status: metav1.ConditionTrue}}
				r.Status.Reason, r.Status.Message, r.Status.Lanes[0].Groups = "Complete", "2 clusters are done", r.Status.Lanes[0].Groups[:1]
			},
			want: `demo/hello  revision abc  2/15 done  by RolloutPolicy/p
Complete: 2 clusters are done

GROUP  PENDING  ADMITTED NOW  NEXT LOOK  REASON
dev    -        -             -          Complete: 2 clusters are done

Nothing is left to admit: every selected cluster is done.
No soak and no deadline runs: the next change comes from a cluster, or from somebody.`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := threeGroups()
			if tc.change != nil {
				tc.change(r)
			}
			if diff := cmp.Diff(tc.want, strings.Join(planLines(r, noon), "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
