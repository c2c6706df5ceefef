package bundle

import (
	"fmt"
	"k8s.io/utils/clock"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// BenchmarkPlan10000 is one reconcile, but the first, of a bundle with 10,000 clusters, all of them
// selected and with a work, without the API: from the facts to both statuses.
func BenchmarkPlan10000(b *testing.B) {
	f := askable()
	f.clusters, f.reached, f.works = map[string]*clusterv1.ManagedCluster{}, map[string]bool{}, map[string]*workv1.ManifestWork{}
	f.rollout = &v1alpha1.Rollout{}
	f.source = rollout.Source{Name: "Default", Lanes: []rollout.LaneSpec{
		{Name: rollout.DefaultLane, Strategy: rollout.Strategy{Type: rollout.All}},
	}}
	for i := range 10_000 {
		name := fmt.Sprintf("cluster-%05d", i)
		f.clusters[name] = &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			"environment": "dev", "region": "eu", "zone": "a", "tier": "edge", "serial": name,
		}}}
		f.reached[name] = true
		for cluster, w := range works(f, name) {
			w.ResourceVersion = "1"
			f.works[cluster] = w
		}
	}
	r := &Reconciler{Clock: clock.RealClock{}, RemovalGrace: time.Minute}
	m := &memory{}
	r.ask(f, m)
	for b.Loop() {
		q := r.ask(f, m)
		plan := rollout.Plan(q.input, f.now)
		f.rollout.Status = rolloutStatus(f.rollout.Status, 1, f, q, &plan)
		f.bundle.Status = bundleStatus(f, q, &plan)
	}
}
