package policy

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// surroundings are what a policy names and what is not there, each with its field.
type surroundings struct {
	placements, groups []string
}

// around looks for what the policy names.
func (r *Reconciler) around(ctx context.Context, p *v1alpha1.RolloutPolicy) (surroundings, error) {
	var out surroundings
	for i := range p.Spec.PlacementRefs {
		ref := &p.Spec.PlacementRefs[i]
		path := field.NewPath("spec", "placementRefs").Index(i)
		placement := &clusterv1beta1.Placement{}
		err := r.Reader.Get(ctx, client.ObjectKey{Namespace: p.Namespace, Name: ref.Name}, placement)
		if apierrors.IsNotFound(err) {
			out.placements = append(out.placements, fmt.Sprintf("%s: Placement %s/%s does not exist", path.Child("name"), p.Namespace, ref.Name))
			continue
		}
		if err != nil {
			return surroundings{}, fmt.Errorf("get Placement %s/%s: %w", p.Namespace, ref.Name, err)
		}
		out.groups = append(out.groups, missingGroups(&ref.RolloutStrategy, placement, path.Child("rolloutStrategy"))...)
	}
	return out, nil
}

// missingGroups are the mandatory groups for which the Placement has decided no
// clusters. Of one that has decided nothing yet nobody can tell.
func missingGroups(s *v1alpha1.RolloutStrategy, placement *clusterv1beta1.Placement, path *field.Path) []string {
	groups := placement.Status.DecisionGroups
	if len(groups) == 0 {
		return nil
	}
	mandatory, path := mandatoryOf(s, path)
	var out []string
	for i, m := range mandatory {
		there := slices.ContainsFunc(groups, func(g clusterv1beta1.DecisionGroupStatus) bool {
			if m.GroupName != "" {
				return g.DecisionGroupName == m.GroupName
			}
			return g.DecisionGroupIndex == m.GroupIndex
		})
		if !there {
			name := m.GroupName
			if name == "" {
				name = fmt.Sprintf("with index %d", m.GroupIndex)
			}
			out = append(out, fmt.Sprintf("%s: Placement %s/%s decides no clusters for group %s",
				path.Index(i), placement.Namespace, placement.Name, name))
		}
	}
	return out
}

func mandatoryOf(s *v1alpha1.RolloutStrategy, path *field.Path) ([]v1alpha1.MandatoryDecisionGroup, *field.Path) {
	switch {
	case s.Type == v1alpha1.StrategyProgressivePerGroup && s.ProgressivePerGroup != nil:
		return s.ProgressivePerGroup.MandatoryDecisionGroups, path.Child("progressivePerGroup", "mandatoryDecisionGroups")
	case s.Type == v1alpha1.StrategyProgressive && s.Progressive != nil:
		return s.Progressive.MandatoryDecisionGroups, path.Child("progressive", "mandatoryDecisionGroups")
	}
	return nil, path
}

// regrouped lets pass Placements that come or go, or have other groups.
var regrouped = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	was, is := e.ObjectOld.(*clusterv1beta1.Placement), e.ObjectNew.(*clusterv1beta1.Placement)
	return !slices.EqualFunc(was.Status.DecisionGroups, is.Status.DecisionGroups, func(a, b clusterv1beta1.DecisionGroupStatus) bool {
		return a.DecisionGroupName == b.DecisionGroupName && a.DecisionGroupIndex == b.DecisionGroupIndex
	})
}}
