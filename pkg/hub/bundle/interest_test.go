package bundle

import (
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/utils/clock"

	"open-cluster-management.io/fleet-addon/pkg/target"
)

// The templates of a bundle are read for what they use once for each edition, and not for
// each plan.
func TestTemplatesAreLookedThroughOnceForAnEdition(t *testing.T) {
	f, m := askable(), &memory{}
	f.bundle.Spec.Helm = &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"a": "${ .ClusterLabels.zone }"}}}
	r := &Reconciler{Clock: clock.RealClock{}}
	zone := func() bool {
		return interestOf(f, r.ask(f, m), m).affected(
			&target.Cluster{Name: "dev", Labels: map[string]string{"zone": "a"}}, &target.Cluster{Name: "dev", Labels: map[string]string{"zone": "b"}})
	}
	if !zone() || len(m.uses) != 1 {
		t.Fatalf("a label that a template uses does not count, %d editions are known", len(m.uses))
	}
	for key := range m.uses {
		m.uses[key] = target.Uses{}
	}
	if zone() {
		t.Error("the templates were looked through again")
	}
	f.bundle = f.bundle.DeepCopy()
	f.bundle.Generation++
	if !zone() || len(m.uses) != 1 {
		t.Errorf("what an earlier generation used stands for this one, %d editions are known", len(m.uses))
	}
}
