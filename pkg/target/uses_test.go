package target

import (
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// usesOf is all that counts for a bundle, as the hub puts it together.
func usesOf(b *fleet.Bundle, groups []Group) Uses {
	return UsesOfTerms(b, groups).And(UsesOfOptions(b))
}

func TestAffected(t *testing.T) {
	inGroup := clusterGroup("late", "", map[string]string{"stage": "2"})
	inGroup.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "Exists"}}}
	groups := []Group{inGroup}
	cases := map[string]struct {
		bundle  *fleet.Bundle
		changed string
		want    bool
	}{
		"a label that a target asks for":                 {bundle: bundle(fleet.BundleTarget{ClusterSelector: is("dev")}), changed: "env", want: true},
		"a label that nothing asks for":                  {bundle: bundle(fleet.BundleTarget{ClusterSelector: is("dev")}), changed: "zone"},
		"a label of an expression of a named group":      {bundle: bundle(fleet.BundleTarget{ClusterGroup: "late"}), changed: "tier", want: true},
		"a label of a group that is not named":           {bundle: bundle(fleet.BundleTarget{ClusterGroup: "other"}), changed: "tier"},
		"a label of a group that is meant by its labels": {bundle: bundle(fleet.BundleTarget{ClusterGroupSelector: everything}), changed: "tier", want: true},
		"any label, where only a name is asked for":      {bundle: bundle(fleet.BundleTarget{ClusterName: "dev"}), changed: "env"},
		"a label in what a target takes out of a comment": {bundle: func() *fleet.Bundle {
			b := bundle(fleet.BundleTarget{ClusterName: "dev", BundleDeploymentOptions: fleet.BundleDeploymentOptions{
				Helm: &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"m": map[string]any{"b": "*/}"}}}}}})
			b.Spec.Helm = &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{
				"m": map[string]any{"a": "${/*", "c": "${ .ClusterLabels.env } ${/* */}"},
			}}}
			return b
		}(), changed: "env", want: true},
		"a label of a restriction": {bundle: func() *fleet.Bundle {
			b := bundle(fleet.BundleTarget{ClusterName: "dev"})
			b.Spec.TargetRestrictions = []fleet.BundleTargetRestriction{{ClusterSelector: is("dev")}}
			return b
		}(), changed: "env", want: true},
		"a label of a partition": {bundle: func() *fleet.Bundle {
			b := bundle(fleet.BundleTarget{ClusterName: "dev"})
			b.Spec.RolloutStrategy = &fleet.RolloutStrategy{Partitions: []fleet.Partition{{ClusterSelector: is("dev")}}}
			return b
		}(), changed: "env", want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			old := Cluster{Name: "dev", Labels: map[string]string{"env": "dev", "tier": "a", "zone": "a"}}
			changed := Cluster{Name: "dev", Labels: map[string]string{"env": "dev", "tier": "a", "zone": "a"}}
			uses := usesOf(tc.bundle, groups)
			if uses.Affected(&old, &changed) {
				t.Error("affected by nothing")
			}
			changed.Labels[tc.changed] = "b"
			if got := uses.Affected(&old, &changed); got != tc.want {
				t.Errorf("affected by another label: %v, want %v", got, tc.want)
			}
			if got := uses.Fingerprint(&old) != uses.Fingerprint(&changed); got != tc.want {
				t.Errorf("another fingerprint: %v, want %v", got, tc.want)
			}
			delete(changed.Labels, tc.changed)
			if got := uses.Affected(&old, &changed); got != tc.want {
				t.Errorf("affected by a label that is gone: %v, want %v", got, tc.want)
			}
		})
	}
}
