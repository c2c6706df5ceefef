package target

import (
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// UsesOfTerms says what of clusters can change where a bundle goes, by its targets,
// restrictions, customizations, partitions and the groups that they name. Where in doubt it
// says more than there is.
func UsesOfTerms(b *fleet.Bundle, groups []Group) Uses {
	var u Uses
	for i := range b.Spec.Targets {
		u.joinTerms(targetTerms(&b.Spec.Targets[i]), groups)
	}
	for i := range b.Spec.TargetRestrictions {
		u.joinTerms(restrictionTerms(&b.Spec.TargetRestrictions[i]), groups)
	}
	if s := b.Spec.RolloutStrategy; s != nil {
		for i := range s.Partitions {
			u.joinTerms(partitionTerms(&s.Partitions[i]), groups)
		}
	}
	return u
}

// UsesOfOptions says what of clusters can change what a bundle says there, by its values.
// Where in doubt it says more than there is. It reads all templates: whoever asks often keeps it for as long as the bundle stays the same.
func UsesOfOptions(b *fleet.Bundle) Uses {
	u := usesOfOptions(&b.Spec.BundleDeploymentOptions)
	for i := range b.Spec.Targets {
		u.join(usesOfOptions(&b.Spec.Targets[i].BundleDeploymentOptions))
	}
	return u
}

// joinTerms adds the labels that terms look at. A cluster's name never changes.
func (u *Uses) joinTerms(t terms, groups []Group) {
	u.joinSelector(t.clusterSelector)
	if t.clusterGroup == "" && t.clusterGroupSelector == nil {
		return
	}
	for i := range groups {
		// With a selector of groups the others count too: whoever is in no group at all
		// can be selected as well.
		if t.clusterGroupSelector != nil || groups[i].Name == t.clusterGroup {
			u.joinSelector(groups[i].Spec.Selector)
		}
	}
}

func (u *Uses) joinSelector(s *metav1.LabelSelector) {
	if s == nil {
		return
	}
	for key := range s.MatchLabels {
		u.Labels.add(key)
	}
	for i := range s.MatchExpressions {
		u.Labels.add(s.MatchExpressions[i].Key)
	}
}

// usesOfOptions says what of a cluster options depend on.
func usesOfOptions(o *fleet.BundleDeploymentOptions) Uses { return compileValues(o).uses() }
