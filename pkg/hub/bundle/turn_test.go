package bundle

import (
	"fmt"
	"testing"
	"time"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// slow is a clock by which everything takes two seconds.
type slow struct{ now time.Time }

func (s *slow) Now() time.Time { return s.now }

func (s *slow) Since(t time.Time) time.Duration {
	s.now = s.now.Add(2 * time.Second)
	return s.now.Sub(t)
}

// A bundle whose templates take long gives its worker back, and comes to its end in a few
// turns.
func TestSlowTemplatesTakeTurns(t *testing.T) {
	f := askable()
	f.bundle.Spec.Targets = []fleet.BundleTarget{{ClusterSelector: &metav1.LabelSelector{}}}
	f.bundle.Spec.Helm = &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"a": "${ .ClusterName }"}}}
	for i := range 10 {
		name := fmt.Sprintf("c%d", i)
		f.clusters[name] = &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
		f.reached[name] = true
	}
	r, m := &Reconciler{Clock: &slow{}}, &memory{}
	before := len(f.reached)
	for turns := 1; ; turns++ {
		q := r.ask(f, m)
		left := 0
		for _, c := range q.input.Clusters {
			if (c.DesiredID == "") != (c.RenderWaits != "") || c.RenderError != "" || !c.Selected {
				t.Fatalf("cluster %s: id %q, waits %q, fails %q", c.Name, c.DesiredID, c.RenderWaits, c.RenderError)
			}
			if c.DesiredID == "" {
				left++
			}
		}
		if q.turn.over != (left > 0) || left >= before {
			t.Fatalf("turn %d: %d clusters are left of %d, over %v", turns, left, before, q.turn.over)
		}
		if len(m.rendered) != len(f.reached) {
			t.Fatalf("turn %d: %d clusters are known as selected", turns, len(m.rendered))
		}
		if before = left; left == 0 {
			if turns < 3 {
				t.Errorf("%d turns", turns)
			}
			return
		}
	}
}
