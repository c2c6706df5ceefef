package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// standing is a cluster of threeGroups that was admitted to a group 20 seconds ago.
func standing(group string, change ...func(*site)) *site {
	s := &site{rollout: threeGroups(), cluster: "c1", addOn: rollout.AddOnPresent, mcUnread: true, work: &rollout.Work{
		ID: "i", Revision: "abc", Admission: "a", Place: rollout.Place{Lane: "all", GroupKey: rollout.GroupKey{Name: group}},
		MinSuccessTime: 30 * time.Second, Stamps: rollout.Stamps{AdmittedAt: noon.Add(-20 * time.Second)},
	}}
	for _, c := range change {
		c(s)
	}
	return s
}

func absentCluster(s *site) { s.work = nil }
func known(s *site)         { s.mcUnread, s.mc = false, &clusterv1.ManagedCluster{} }

func isReady(s *site) {
	s.work.Verdict = rollout.Verdict{Admission: "a", Applied: true, Ready: true, ReadySince: "r"}
	s.work.Stamps.ReadySeenAt, s.work.Stamps.ReadyFor = noon.Add(-10*time.Second), "a|r|t"
}

func says(v rollout.Verdict) func(*site) {
	return func(s *site) { v.Admission = "a"; s.work.Verdict = v }
}

func of(change func(*v1alpha1.Rollout)) func(*site) {
	return func(s *site) { change(s.rollout) }
}

func TestExplain(t *testing.T) {
	older := func(s *site) { s.work.Revision = "old" }
	cases := map[string]struct {
		site *site
		want string
	}{
		"it soaks, and the ManagedCluster may not be read": {
			site: standing("stg", isReady, func(s *site) { s.unread = []string{"managedclusters c1: you have no right to get it"} }), want: `
Cluster c1, Bundle demo/hello: Soaking, shown as Ready, since 2026-05-01T11:59:50Z (10s ago)
  Group:     stg, open
  Revision:  abc, the one that is rolled out
  Why:       Soaking: ready since 2026-05-01T11:59:50Z, soaking until 2026-05-01T12:00:20Z
  Next:      it must stay ready and available without a break, and the agent must confirm the end of the soak
  Earliest:  2026-05-01T12:00:20Z (in 20s)
  Not read:  managedclusters c1: you have no right to get it`},
		"it is offline": {
			site: standing("stg", isReady, known), want: `
Cluster c1, Bundle demo/hello: Progressing, shown as NotReady, since 2026-05-01T11:59:40Z (20s ago)
  Group:     stg, open
  Revision:  abc, the one that is rolled out
  Why:       Offline: the cluster is not available
  Next:      the agent must report this admission applied and ready, and the cluster must be available and stay so for 30s`},
		"it progresses towards a deadline": {
			site: standing("stg", of(func(r *v1alpha1.Rollout) { r.Status.Lanes[0].Groups[1].ProgressDeadlineSeconds = 60 })), want: `
Cluster c1, Bundle demo/hello: Progressing, shown as WaitApplied, since 2026-05-01T11:59:40Z (20s ago)
  Group:     stg, open
  Revision:  abc, the one that is rolled out
  Why:       NotReady: waiting for the cluster's first word; counts as failed at 2026-05-01T12:00:40Z
  Next:      the agent must report this admission applied and ready, and the cluster must be available and stay so for 30s; at 2026-05-01T12:00:40Z it counts as failed`},
		"it failed": {
			site: standing("stg", says(rollout.Verdict{Terminal: true, Message: "bad chart"})), want: `
Cluster c1, Bundle demo/hello: Failed, shown as ErrApplied, since 2026-05-01T12:00:00Z (0s ago)
  Group:     stg, open
  Revision:  abc, the one that is rolled out
  Why:       DeployFailed: failed: bad chart
  Next:      no retry cures this: a new revision has to repair it, or ` + "`fleetctl rollout undo hello -n demo`" + ` brings an earlier one`},
		"its group is closed": {
			site: standing("prod", older), want: `
Cluster c1, Bundle demo/hello: Pending, shown as OutOfSync
  Group:     prod, closed
  Revision:  old; abc is rolled out
  Why:       WaitingForGroup: waiting for group stg: it soaks
  Next:      every earlier group must pass
  Earliest:  2026-05-01T12:00:14Z (in 14s)`},
		"its lane is stopped": {
			site: standing("prod", older, of(func(r *v1alpha1.Rollout) {
				g := &r.Status.Lanes[0].Groups[1]
				g.Breached, g.Reason, g.Message, g.MaxFailures = true, "FailureBudgetExceeded", "2 of 8 clusters failed", 1
			})), want: `
Cluster c1, Bundle demo/hello: Pending, shown as OutOfSync
  Group:     prod, closed
  Revision:  old; abc is rolled out
  Why:       FailureBudgetExceeded: 2 of 8 clusters failed
  Next:      the failures in group stg must fall to what it tolerates (1), by repair, a new revision or an edit of the strategy`},
		"the rollout is paused": {
			site: standing("stg", older, of(func(r *v1alpha1.Rollout) {
				r.Status.Reason = "Paused"
				r.Status.Conditions = []metav1.Condition{{Type: v1alpha1.RolloutHeld, Status: metav1.ConditionTrue, Message: "paused by the Rollout"}}
			})), want: `
Cluster c1, Bundle demo/hello: Pending, shown as OutOfSync
  Group:     stg, open
  Revision:  old; abc is rolled out
  Why:       paused by the Rollout
  Next:      the rollout must be resumed: ` + "`fleetctl rollout resume hello -n demo`"},
		"nothing is there, and the Rollout names it": {
			site: standing("", absentCluster, of(func(r *v1alpha1.Rollout) {
				r.Status.Lanes[0].Groups[1].Clusters = []v1alpha1.HeldCluster{{Name: "c1", State: "Pending", Reason: "MaxConcurrency", Message: "1 of 1 is under way"}}
			})), want: `
Cluster c1, Bundle demo/hello: Pending, nothing of the bundle is there yet
  Group:     stg
  Why:       MaxConcurrency: 1 of 1 is under way
  Next:      it is its turn when the group's limits allow it
  Earliest:  2026-05-01T12:00:14Z (in 14s)`},
		"nothing is there, and a Placement decides it": {
			site: standing("", absentCluster, known, func(s *site) {
				s.decided = []rollout.Place{{Lane: "all", GroupKey: rollout.GroupKey{Name: "prod"}}}
			}), want: `
Cluster c1, Bundle demo/hello: Pending, nothing of the bundle is there yet
  Group:     prod, closed
  Why:       the Placement of lane all decides it; it gets the bundle if a target of the Bundle matches its labels and the namespace is bound to one of its ManagedClusterSets
  Next:      every earlier group must pass
  Earliest:  2026-05-01T12:00:14Z (in 14s)`},
		"nothing is there, and nothing names it": {
			site: standing("", absentCluster, known), want: `
Cluster c1, Bundle demo/hello: not in the rollout
  Why:       it has nothing of the bundle, and no group of the Rollout names it
  Next:      a target of Bundle demo/hello must match its labels, and namespace demo must be bound to one of its ManagedClusterSets, and a Placement of the rollout must decide it: demo/all`},
		"there is no such cluster": {
			site: standing("", absentCluster, func(s *site) { s.mcUnread = false }), want: `
Cluster c1, Bundle demo/hello: not a cluster of this hub
  Why:       there is no ManagedCluster c1
  Next:      check the name, or have the cluster join the hub; then the Bundle's targets, the Placements and the namespace's ManagedClusterSetBindings decide`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(explain(tc.site, noon).lines(noon), "\n")
			if diff := cmp.Diff(strings.TrimPrefix(tc.want, "\n"), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
