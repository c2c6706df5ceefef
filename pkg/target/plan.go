package target

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// rule is one target, ready to be matched and used.
type rule struct {
	criteria
	index       int
	name        string
	doNotDeploy bool
	options     fleet.BundleDeploymentOptions
}

// plan is a bundle's targets in the order in which they are tried.
type plan struct {
	bundle                  *fleet.Bundle
	targets, customizations []*rule
	// restrictions are nil when there are none: every cluster is allowed.
	restrictions []criteria
	// allMatches merges every customization that matches; otherwise the first one takes
	// the place of the target.
	allMatches bool
	// made are the options of each set of rules that decided about a cluster so far.
	made map[string]*made
	// own is what the bundle itself says, once some rules leave its values as they are.
	own *made
}

// compile parses every selector once. With restrictions, which Fleet writes for
// the targets of a GitRepo, the targets before the last len(restrictions) ones
// are customizations: they change the options of the target that selected the
// cluster, and select none themselves.
func compile(b *fleet.Bundle, groups []Group) (*plan, error) {
	known := newGroups(groups)
	p := &plan{bundle: b, allMatches: b.Spec.TargetCustomizationMode == fleet.TargetCustomizationModeAllMatches, made: map[string]*made{}}
	path := field.NewPath("spec", "targetRestrictions")
	for i := range b.Spec.TargetRestrictions {
		c, err := known.compile(restrictionTerms(&b.Spec.TargetRestrictions[i]), path.Index(i))
		if err != nil {
			return nil, err
		}
		p.restrictions = append(p.restrictions, c)
	}
	customizations := customizationsOf(b)
	path = field.NewPath("spec", "targets")
	for i := range b.Spec.Targets {
		t := &b.Spec.Targets[i]
		c, err := known.compile(targetTerms(t), path.Index(i))
		if err != nil {
			return nil, err
		}
		r := &rule{criteria: c, index: i, name: nameOf(t, i), doNotDeploy: t.DoNotDeploy, options: optionsOf(t)}
		if i < customizations {
			p.customizations = append(p.customizations, r)
		} else {
			p.targets = append(p.targets, r)
		}
	}
	return p, nil
}

// customizationsOf counts the targets, from the first one, that are customizations.
func customizationsOf(b *fleet.Bundle) int {
	if n := len(b.Spec.TargetRestrictions); n > 0 {
		return max(0, len(b.Spec.Targets)-n)
	}
	return 0
}

func nameOf(t *fleet.BundleTarget, index int) string {
	if t.Name == "" {
		return fmt.Sprintf("target%03d", index)
	}
	return t.Name
}

// choice is what a plan decides about a cluster.
type choice struct {
	deploys bool
	// rules made it, in the order in which their options merge.
	rules []*rule
}

// choose decides about a cluster: the first target that matches selects it, and then
// the customizations have their say.
func (p *plan) choose(c *Cluster) choice {
	var chosen *rule
	for _, r := range p.targets {
		if r.match(c) && p.allows(r, c) {
			chosen = r
			break
		}
	}
	if chosen == nil || chosen.doNotDeploy {
		return choice{}
	}
	if p.allMatches {
		rules := []*rule{chosen}
		for _, r := range p.customizations {
			if !r.match(c) {
				continue
			}
			if r.doNotDeploy {
				return choice{}
			}
			rules = append(rules, r)
		}
		return choice{deploys: true, rules: rules}
	}
	if custom := first(p.customizations, c); custom != nil {
		chosen = custom
	}
	return choice{deploys: !chosen.doNotDeploy, rules: []*rule{chosen}}
}

func first(rules []*rule, c *Cluster) *rule {
	for _, r := range rules {
		if r.match(c) {
			return r
		}
	}
	return nil
}

// allows tells whether a restriction lets a target that matches have the cluster. Where
// both ask for groups, they have to mean one and the same.
func (p *plan) allows(r *rule, c *Cluster) bool {
	return p.restrictions == nil || slices.ContainsFunc(p.restrictions, func(restriction criteria) bool {
		return restriction.match(c) && restriction.together(&r.criteria, c)
	})
}

// match makes the Match of a choice; the options of a set of rules are merged once.
func (p *plan) match(c *Cluster, chosen choice) Match {
	key := keyOf(chosen.rules)
	it := p.made[key]
	if it == nil {
		it = p.merged(chosen.rules)
		p.made[key] = it
	}
	return Match{Cluster: c.Name, Target: chosen.rules[0].name, Rule: key, Options: it.options, made: it}
}

// merged merges the options of rules over the bundle's. Values that no rule changes are
// not copied and compiled for each: they can be a megabyte, and there can be a target for
// each cluster.
func (p *plan) merged(rules []*rule) *made {
	options := p.bundle.Spec.BundleDeploymentOptions
	own := !slices.ContainsFunc(rules, func(r *rule) bool { return changesValues(r.options.Helm) })
	if own {
		options = withValues(options, nil)
	}
	for _, r := range rules {
		options = merge(options, r.options)
	}
	if !own {
		return newMade(p.bundle.Namespace, deployed(options))
	}
	if p.own == nil {
		p.own = newMade(p.bundle.Namespace, deployed(p.bundle.Spec.BundleDeploymentOptions))
	}
	if h := p.bundle.Spec.Helm; h != nil {
		options = withValues(options, h.Values)
	}
	return &made{namespace: p.bundle.Namespace, options: deployed(options), values: p.own.values, uses: p.own.uses}
}

// withValues are options with other values, which they share.
func withValues(o fleet.BundleDeploymentOptions, values *fleet.GenericMap) fleet.BundleDeploymentOptions {
	if o.Helm != nil {
		helm := *o.Helm
		helm.Values = values
		o.Helm = &helm
	}
	return o
}

func keyOf(rules []*rule) string {
	if len(rules) == 1 {
		return strconv.Itoa(rules[0].index)
	}
	parts := make([]string, len(rules))
	for i, r := range rules {
		parts[i] = strconv.Itoa(r.index)
	}
	return strings.Join(parts, "+")
}

// deployed leaves out of merged options what has had its effect when the bundle was read,
// and what has none.
func deployed(o fleet.BundleDeploymentOptions) fleet.BundleDeploymentOptions {
	if o.Helm == nil {
		return o
	}
	helm := *o.Helm
	helm.ValuesFiles = nil
	if helm.DisablePreProcess {
		helm.TemplateValues = nil
	}
	o.Helm = &helm
	return o
}
