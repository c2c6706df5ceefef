package rollout

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// Governing are the names of the policies, of a bundle's namespace, that its labels put
// it under, in name order: the one that they name, if it exists, else those that select
// them. One of them governs the bundle, several hold it. What is selected by a
// policy whose selector is invalid nobody knows.
func Governing(bundle map[string]string, policies []*v1alpha1.RolloutPolicy) []string {
	named := bundle[v1alpha1.LabelRolloutPolicy]
	var out []string
	for _, p := range policies {
		if named != "" {
			if p.Name == named {
				return []string{named}
			}
			continue
		}
		if selected, err := selects(p, bundle); err == nil && selected {
			out = append(out, p.Name)
		}
	}
	slices.Sort(out)
	return out
}

// selects tells whether a policy's selector matches a bundle's labels.
func selects(p *v1alpha1.RolloutPolicy, bundle map[string]string) (bool, error) {
	if p.Spec.BundleSelector == nil {
		return false, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(p.Spec.BundleSelector)
	if err != nil {
		return false, fmt.Errorf("RolloutPolicy %s: spec.bundleSelector: %w", p.Name, err)
	}
	return selector.Matches(labels.Set(bundle)), nil
}
