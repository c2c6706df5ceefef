package bundle

import (
	"fmt"
	"reflect"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

// Targets are what a targets file says, the one that Fleet makes of the targets of a
// GitRepo: for Request.Targets and Request.Restrictions.
type Targets struct {
	Targets            []fleet.BundleTarget            `json:"targets,omitempty"`
	TargetRestrictions []fleet.BundleTargetRestriction `json:"targetRestrictions,omitempty"`
}

// ReadTargets decodes a targets file, YAML or JSON; shown is its path for people. Unknown
// fields are an error, or whole sentences if lenient.
func ReadTargets(shown string, data []byte, lenient bool) (Targets, []string, error) {
	var t Targets
	if len(data) > MaxOptions {
		return t, nil, fmt.Errorf("%s: %w: a targets file has at most %s", shown, ErrTooLarge, size(MaxOptions))
	}
	_, warnings, err := decode(shown, data, reflect.TypeOf(t), nil, lenient, &t)
	return t, warnings, err
}

// targets puts together whom the bundle is for: what the fleet.yaml says, then what the
// GitRepo or the targets file says unless the fleet.yaml overrides it, and the group
// "default" if nobody says anything.
func (r *reader) targets(o *options) ([]fleet.BundleTarget, []fleet.BundleTargetRestriction) {
	targets, restrictions := o.Targets, o.TargetRestrictions
	if o.OverrideTargets != nil {
		for _, t := range o.OverrideTargets {
			restriction := fleet.BundleTargetRestriction(t)
			targets = append(targets, fleet.BundleTarget{
				Name:                 t.Name,
				ClusterName:          t.ClusterName,
				ClusterSelector:      t.ClusterSelector,
				ClusterGroup:         t.ClusterGroup,
				ClusterGroupSelector: t.ClusterGroupSelector,
			})
			restrictions = append(restrictions, restriction)
		}
	} else {
		for _, t := range r.request.Targets {
			targets = append(targets, *t.DeepCopy())
		}
		for _, t := range r.request.Restrictions {
			restrictions = append(restrictions, *t.DeepCopy())
		}
	}
	if len(targets) == 0 {
		targets = []fleet.BundleTarget{{Name: "default", ClusterGroup: "default"}}
	}
	return targets, restrictions
}

// customize makes targets of the customizations, names those that have none, and gives
// them the chart of the bundle where they have none of their own.
func customize(spec *fleet.BundleSpec, customizations []fleet.BundleTarget) {
	spec.Targets = append(spec.Targets, customizations...)
	for i := range spec.Targets {
		t := &spec.Targets[i]
		if t.Name == "" {
			t.Name = fmt.Sprintf("target%03d", i)
		}
		if t.Helm == nil || spec.Helm == nil {
			continue
		}
		t.Helm.Chart = first(t.Helm.Chart, spec.Helm.Chart)
		t.Helm.Repo = first(t.Helm.Repo, spec.Helm.Repo)
		t.Helm.Version = first(t.Helm.Version, spec.Helm.Version)
	}
}

func first(own, inherited string) string {
	if own != "" {
		return own
	}
	return inherited
}
