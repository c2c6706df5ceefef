package target

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

// With a target for each cluster the bundle's values are there once, whatever else the
// targets change, and what clusters get is what a merge gives.
func TestValuesThatNoTargetChangesAreShared(t *testing.T) {
	bundle := func(custom fleet.HelmOptions) *fleet.Bundle {
		b := &fleet.Bundle{}
		b.Spec.Helm = &fleet.HelmOptions{
			ReleaseName: "web", TemplateValues: map[string]string{"name": "${ .ClusterName }"},
			Values: &fleet.GenericMap{Data: map[string]any{"region": "${ .ClusterLabels.region }", "plain": "a"}},
		}
		for i := range 2 {
			target := fleet.BundleTarget{ClusterName: fmt.Sprintf("c%d", i)}
			target.Helm = custom.DeepCopy()
			b.Spec.Targets = append(b.Spec.Targets, target)
		}
		return b
	}
	clusters := []Cluster{{Name: "c0", Labels: map[string]string{"region": "eu"}}, {Name: "c1", Labels: map[string]string{"region": "us"}}}
	tests := map[string]struct {
		custom fleet.HelmOptions
		shared bool
	}{
		"a version":          {fleet.HelmOptions{Version: "1", Atomic: true}, true},
		"nothing":            {fleet.HelmOptions{}, true},
		"values":             {fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"plain": "b"}}}, false},
		"a template":         {fleet.HelmOptions{TemplateValues: map[string]string{"more": "x"}}, false},
		"how they are taken": {fleet.HelmOptions{DisablePreProcess: true}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := bundle(tt.custom)
			matches, err := Select(b, nil, clusters)
			if err != nil || len(matches) != 2 {
				t.Fatalf("%d matches, %v", len(matches), err)
			}
			for i := range matches {
				want := deployed(merge(b.Spec.BundleDeploymentOptions, optionsOf(&b.Spec.Targets[i])))
				if diff := cmp.Diff(want, matches[i].Options); diff != "" {
					t.Errorf("cluster %s (-merged +got):\n%s", matches[i].Cluster, diff)
				}
				if shared := matches[i].Options.Helm.Values == b.Spec.Helm.Values; shared != tt.shared {
					t.Errorf("cluster %s: the values are the bundle's own: %v, want %v", matches[i].Cluster, shared, tt.shared)
				}
				got, err := matches[i].Render(&clusters[i])
				if err != nil {
					t.Fatal(err)
				}
				again, err := Render(b.Namespace, want, &clusters[i])
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(again, got); diff != "" {
					t.Errorf("cluster %s (-want +got):\n%s", matches[i].Cluster, diff)
				}
			}
		})
	}
}
