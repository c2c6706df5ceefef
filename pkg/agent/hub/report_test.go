package hub

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

func bundle(name string, ready, terminal bool) v1alpha1.BundleDeployment {
	b := v1alpha1.BundleDeployment{}
	b.Spec.Bundle, b.Spec.Admission = "apps/"+name, "1"
	b.Status.Admission, b.Status.Ready, b.Status.Terminal = "1", ready, terminal
	return b
}

func stale(name string) v1alpha1.BundleDeployment {
	b := bundle(name, true, true)
	b.Spec.Admission = "2"
	return b
}

func TestConditions(t *testing.T) {
	var many []v1alpha1.BundleDeployment
	for i := range 8 {
		many = append(many, bundle(fmt.Sprintf("b%d", 7-i), false, true))
	}
	tests := map[string]struct {
		bundles []v1alpha1.BundleDeployment
		left    *Left
		want    []string
	}{
		"no bundle": {nil, nil, []string{
			"BundlesReady=True AllReady: 0 of 0 bundles are ready",
			"Degraded=False NoBundleFailed: no bundle failed",
		}},
		"one ready, one not": {[]v1alpha1.BundleDeployment{bundle("a", true, false), bundle("b", false, false)}, nil, []string{
			"BundlesReady=False BundlesNotReady: 1 of 2 bundles are ready; not ready: apps/b",
			"Degraded=False NoBundleFailed: no bundle failed",
		}},
		"the verdict on an earlier admission is none": {[]v1alpha1.BundleDeployment{stale("a")}, nil, []string{
			"BundlesReady=False BundlesNotReady: 0 of 1 bundles are ready; not ready: apps/a",
			"Degraded=False NoBundleFailed: no bundle failed",
		}},
		"many failed, some named": {many, nil, []string{
			"BundlesReady=False BundlesNotReady: 0 of 8 bundles are ready; not ready: apps/b0, apps/b1, apps/b2, apps/b3, apps/b4 and 3 more",
			"Degraded=True BundlesFailed: 8 of 8 bundles failed: apps/b0, apps/b1, apps/b2, apps/b3, apps/b4 and 3 more",
		}},
		"going, with something left": {nil, &Left{Releases: 2}, []string{
			"BundlesReady=True AllReady: 0 of 0 bundles are ready",
			"Degraded=False NoBundleFailed: no bundle failed",
			"Drained=False BundlesRemain: 0 BundleDeployments and 2 Helm releases are left",
		}},
		"drained": {nil, &Left{}, []string{
			"BundlesReady=True AllReady: 0 of 0 bundles are ready",
			"Degraded=False NoBundleFailed: no bundle failed",
			"Drained=True Drained: no bundle and no release of a bundle is left",
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range Conditions(tc.bundles, tc.left, nil, time.Unix(1, 0)) {
				got = append(got, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConditionsKeepTheirTime(t *testing.T) {
	early, later := time.Unix(1, 0), time.Unix(100, 0)
	before := Conditions([]v1alpha1.BundleDeployment{bundle("a", false, false)}, nil, nil, early)
	after := Conditions([]v1alpha1.BundleDeployment{bundle("a", true, false)}, nil, before, later)
	if got := after[0].LastTransitionTime; !got.Time.Equal(later) {
		t.Errorf("BundlesReady changed at %s", got)
	}
	if got := after[1].LastTransitionTime; !got.Time.Equal(early) {
		t.Errorf("Degraded changed at %s", got)
	}
	if same(after, before) || !same(after, after) {
		t.Error("a change is not seen")
	}
	if drainChanged(after, before) {
		t.Error("there is no Drained to change")
	}
	if drains := []metav1.Condition{drained(Left{})}; !drainChanged(drains, before) || drainChanged(drains, drains) {
		t.Error("a change of Drained is not seen")
	}
}
