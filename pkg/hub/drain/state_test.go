package drain

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

func TestDecide(t *testing.T) {
	deleted := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	soon, patient, late := deleted.Add(time.Minute), deleted.Add(agentGrace), deleted.Add(time.Hour)
	tests := map[string]struct {
		leaving leaving
		now     time.Time
		want    action
	}{
		"its annotation keeps the bundles, also of a cluster that is fine": {
			leaving{addOn: addOn(deleted, keep, agent), cluster: reachable(), works: 3}, soon, release,
		},
		"the cluster is gone": {
			leaving{addOn: addOn(deleted), works: 3}, soon, abandon,
		},
		"the cluster is going and cannot be reached": {
			leaving{addOn: addOn(deleted), cluster: going(unreachable()), works: 3}, soon, abandon,
		},
		"the cluster is going and can be reached: its bundles are uninstalled first": {
			leaving{addOn: addOn(deleted, agent), cluster: going(reachable()), works: 3}, soon, empty,
		},
		"the cluster cannot be reached: its works stay": {
			leaving{addOn: addOn(deleted), cluster: unreachable(), works: 3}, soon, release,
		},
		"works are left": {
			leaving{addOn: addOn(deleted, agent), cluster: reachable(), works: 1}, soon, empty,
		},
		"works are left, whatever the agent said before": {
			leaving{addOn: addOn(deleted, agent, drainedNow), cluster: reachable(), works: 1}, soon, empty,
		},
		"works are left and the agent does not answer": {
			leaving{addOn: addOn(deleted), cluster: reachable(), works: 1}, soon, empty,
		},
		"the works are gone and the agent has not finished": {
			leaving{addOn: addOn(deleted, agent), cluster: reachable()}, soon, await,
		},
		"the works are gone and the agent has finished": {
			leaving{addOn: addOn(deleted, agent, drainedNow), cluster: reachable()}, soon, release,
		},
		"the works are gone and the agent does not answer yet: it may be starting": {
			leaving{addOn: addOn(deleted), cluster: reachable()}, soon, await,
		},
		"the works are gone and the agent has not answered for long": {
			leaving{addOn: addOn(deleted), cluster: reachable()}, patient, release,
		},
		"the works are gone and the agent answers for long, before OCM has seen its lease": {
			leaving{addOn: addOn(deleted, notDrained), cluster: reachable()}, patient, await,
		},
		"the works are gone, the agent does not answer and the cluster is going": {
			leaving{addOn: addOn(deleted), cluster: going(reachable())}, soon, await,
		},
		"the works are gone and the cluster cannot be reached": {
			leaving{addOn: addOn(deleted), cluster: unreachable()}, soon, release,
		},
		"the time is over with works left": {
			leaving{addOn: addOn(deleted, agent), cluster: reachable(), works: 1}, late, abandon,
		},
		"the time is over for the agent": {
			leaving{addOn: addOn(deleted, agent), cluster: reachable()}, late, abandon,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, why := decide(tt.leaving, 5*time.Minute, tt.now)
			if got != tt.want {
				t.Errorf("decide = %s (%s), want %s", got, why, tt.want)
			}
			if why == "" {
				t.Error("no reason")
			}
		})
	}
}

type change func(*addonv1beta1.ManagedClusterAddOn)

func addOn(deleted time.Time, changes ...change) *addonv1beta1.ManagedClusterAddOn {
	a := &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Name: v1alpha1.AddOnName, DeletionTimestamp: &metav1.Time{Time: deleted}, Annotations: map[string]string{},
	}}
	for _, c := range changes {
		c(a)
	}
	return a
}

func keep(a *addonv1beta1.ManagedClusterAddOn) {
	a.Annotations[v1alpha1.AnnotationKeepBundles] = "true"
}

func agent(a *addonv1beta1.ManagedClusterAddOn) {
	a.Status.Conditions = append(a.Status.Conditions, metav1.Condition{
		Type: addonv1beta1.ManagedClusterAddOnConditionAvailable, Status: metav1.ConditionTrue})
}

func drainedNow(a *addonv1beta1.ManagedClusterAddOn) {
	a.Status.Conditions = append(a.Status.Conditions, metav1.Condition{Type: v1alpha1.AddOnDrained, Status: metav1.ConditionTrue})
}

func notDrained(a *addonv1beta1.ManagedClusterAddOn) {
	a.Status.Conditions = append(a.Status.Conditions, metav1.Condition{Type: v1alpha1.AddOnDrained, Status: metav1.ConditionFalse})
}

func reachable() *clusterv1.ManagedCluster { return withAvailable(metav1.ConditionTrue) }

func unreachable() *clusterv1.ManagedCluster { return withAvailable(metav1.ConditionUnknown) }

func withAvailable(status metav1.ConditionStatus) *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{Status: clusterv1.ManagedClusterStatus{Conditions: []metav1.Condition{
		{Type: clusterv1.ManagedClusterConditionAvailable, Status: status},
	}}}
}

func going(c *clusterv1.ManagedCluster) *clusterv1.ManagedCluster {
	c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	return c
}
