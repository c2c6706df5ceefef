package target

import (
	"fmt"
	"slices"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Cluster is what of a ManagedCluster decides about matching and options.
type Cluster struct {
	Name                string
	Labels, Annotations map[string]string
	// Claims are the ClusterClaims that the cluster reports, by name.
	Claims map[string]string
	// Values are what templates know as ClusterValues.
	Values map[string]any
}

// Match is one cluster that a bundle goes to.
type Match struct {
	Cluster string
	// Target is the name of the target whose options are used; "" for implicit
	// targets without one.
	Target string
	// Rule is the target's place in the bundle, as names need not be unique; 0 for
	// implicit targets.
	Rule int
	// Options are the bundle's options with the target's merged over them. Clusters
	// of one target share them: they are read, never changed.
	Options fleet.BundleDeploymentOptions
	// DoNotDeploy is true when the target says so. Select leaves such clusters out.
	DoNotDeploy bool
	// Err says why the options cannot be rendered for this cluster.
	Err error
}

// Select returns the clusters that a target of the bundle selects, in name
// order. Targets are tried in order and the first that matches is used; a cluster
// whose target says doNotDeploy is left out. groups are the ClusterGroups of the
// bundle's namespace. An invalid selector, of the bundle or of a group that it
// refers to, is an error that names it.
func Select(b *fleet.Bundle, groups []fleet.ClusterGroup, clusters []Cluster) ([]Match, error) {
	plan, err := compile(b, groups)
	if err != nil {
		return nil, fmt.Errorf("bundle %s/%s: %w", b.Namespace, b.Name, err)
	}
	matches := make([]Match, 0, len(clusters))
	for i := range clusters {
		if rule := plan.choose(&clusters[i]); rule != nil && !rule.doNotDeploy {
			matches = append(matches, Match{Cluster: clusters[i].Name, Target: rule.name, Rule: rule.index, Options: rule.options})
		}
	}
	slices.SortFunc(matches, func(x, y Match) int { return strings.Compare(x.Cluster, y.Cluster) })
	return matches, nil
}

// OptionsFor returns the options of a bundle without targets of its own on a
// cluster that something else, a Placement, has selected for it.
func OptionsFor(b *fleet.Bundle, c Cluster) Match {
	m := Match{Cluster: c.Name}
	if len(b.Spec.Targets) == 1 && implicit(&b.Spec.Targets[0]) {
		m.Target = b.Spec.Targets[0].Name
		m.Options = merge(b.Spec.BundleDeploymentOptions, optionsOf(&b.Spec.Targets[0]))
		return m
	}
	m.Options = *b.Spec.BundleDeploymentOptions.DeepCopy()
	return m
}

// defaultTarget is the name of the target that Fleet adds where none is given,
// and of the ClusterGroup that it refers to.
const defaultTarget = "default"

// HasOwnTargets tells whether the bundle itself says where it goes. It does not
// if it has no targets, or only the implicit `default` one while its namespace
// has no ClusterGroup `default`. groups are those of the namespace.
func HasOwnTargets(b *fleet.Bundle, groups []fleet.ClusterGroup) bool {
	hasDefaultGroup := slices.ContainsFunc(groups, func(g fleet.ClusterGroup) bool { return g.Name == defaultTarget })
	for i := range b.Spec.TargetRestrictions {
		if r := &b.Spec.TargetRestrictions[i]; hasDefaultGroup || !restrictionTerms(r).onlyDefaultGroup() {
			return true
		}
	}
	switch len(b.Spec.Targets) {
	case 0:
		return false
	case 1:
		return hasDefaultGroup || !implicit(&b.Spec.Targets[0])
	default:
		return true
	}
}

func implicit(t *fleet.BundleTarget) bool {
	return t.Name == defaultTarget && !t.DoNotDeploy && targetTerms(t).onlyDefaultGroup()
}

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
	targets, customizations []*rule
	// restrictions are nil when there are none: every cluster is allowed.
	restrictions []criteria
}

// compile parses every selector once. With restrictions, which Fleet writes for
// the targets of a GitRepo, the targets before the last len(restrictions) ones
// are customizations: they replace the options of the target that selected the
// cluster, and select none themselves.
func compile(b *fleet.Bundle, groups []fleet.ClusterGroup) (*plan, error) {
	known := newGroups(groups)
	p := &plan{}
	path := field.NewPath("spec", "targetRestrictions")
	for i := range b.Spec.TargetRestrictions {
		c, err := known.compile(restrictionTerms(&b.Spec.TargetRestrictions[i]), path.Index(i))
		if err != nil {
			return nil, err
		}
		p.restrictions = append(p.restrictions, c)
	}
	customizations := 0
	if n := len(b.Spec.TargetRestrictions); n > 0 {
		customizations = max(0, len(b.Spec.Targets)-n)
	}
	path = field.NewPath("spec", "targets")
	for i := range b.Spec.Targets {
		t := &b.Spec.Targets[i]
		c, err := known.compile(targetTerms(t), path.Index(i))
		if err != nil {
			return nil, err
		}
		r := &rule{criteria: c, index: i, name: t.Name, doNotDeploy: t.DoNotDeploy}
		if r.name == "" {
			r.name = fmt.Sprintf("target%03d", i)
		}
		r.options = merge(b.Spec.BundleDeploymentOptions, optionsOf(t))
		if i < customizations {
			p.customizations = append(p.customizations, r)
		} else {
			p.targets = append(p.targets, r)
		}
	}
	return p, nil
}

// choose returns the rule that decides about a cluster, nil if none does.
func (p *plan) choose(c *Cluster) *rule {
	if p.restrictions != nil && !slices.ContainsFunc(p.restrictions, func(r criteria) bool { return r.match(c) }) {
		return nil
	}
	chosen := first(p.targets, c)
	if chosen == nil || chosen.doNotDeploy {
		return chosen
	}
	if custom := first(p.customizations, c); custom != nil {
		return custom
	}
	return chosen
}

func first(rules []*rule, c *Cluster) *rule {
	for _, r := range rules {
		if r.match(c) {
			return r
		}
	}
	return nil
}
