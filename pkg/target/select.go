package target

import (
	"fmt"
	"slices"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

// Match is one cluster that a bundle goes to.
type Match struct {
	Cluster string
	// Target is the name of the target that decides, or of the customization that takes
	// its place; "" for implicit targets without one.
	Target string
	// Rule tells apart the sets of targets whose options are merged, by their places in
	// the bundle, as names need not be unique: matches of one bundle with the same Rule
	// have the same Options. "" for implicit targets.
	Rule string
	// Options are the bundle's options with the targets' merged over them, as they are
	// before Render. Clusters with the same Rule share them: they are read, never changed.
	Options fleet.BundleDeploymentOptions

	made *made
}

// Uses says what of a cluster Render depends on; nothing if the options are the same on
// every one of them.
func (m *Match) Uses() Uses { return m.made.uses }

// Render returns the options as they are on the cluster of the match. They are shared
// where nothing in them depends on it: they are read, never changed.
func (m *Match) Render(c *Cluster) (fleet.BundleDeploymentOptions, error) { return m.made.render(c) }

// Select returns the clusters that a target of the bundle selects, in name
// order, with the options of the first target that matches. An invalid selector
// is an error that names its field. groups are the ClusterGroups that the bundle
// can name.
func Select(b *fleet.Bundle, groups []Group, clusters []Cluster) ([]Match, error) {
	plan, err := compile(b, groups)
	if err != nil {
		return nil, fmt.Errorf("bundle %s/%s: %w", b.Namespace, b.Name, err)
	}
	matches := make([]Match, 0, len(clusters))
	for i := range clusters {
		if c := plan.choose(&clusters[i]); c.deploys {
			matches = append(matches, plan.match(&clusters[i], c))
		}
	}
	sortMatches(matches)
	return matches, nil
}

// SelectAll returns every cluster with the options of a bundle without targets of its
// own, in name order: something else, a Placement, selects its clusters.
func SelectAll(b *fleet.Bundle, clusters []Cluster) []Match {
	first := Match{Options: b.Spec.BundleDeploymentOptions}
	if len(b.Spec.Targets) == 1 && implicit(&b.Spec.Targets[0]) {
		first.Target = b.Spec.Targets[0].Name
		first.Options = merge(first.Options, optionsOf(&b.Spec.Targets[0]))
	}
	first.Options = deployed(first.Options)
	first.made = newMade(b.Namespace, first.Options)
	matches := make([]Match, len(clusters))
	for i := range clusters {
		matches[i] = first
		matches[i].Cluster = clusters[i].Name
	}
	sortMatches(matches)
	return matches
}

func sortMatches(matches []Match) {
	slices.SortFunc(matches, func(x, y Match) int { return strings.Compare(x.Cluster, y.Cluster) })
}

// defaultTarget is the name of the target that Fleet adds where none is given,
// and of the ClusterGroup that it refers to.
const defaultTarget = "default"

// HasOwnTargets tells whether the bundle itself says where it goes. It does not
// if it has no targets, or only the implicit `default` one while it can name
// no ClusterGroup `default`. groups are those that it can name.
func HasOwnTargets(b *fleet.Bundle, groups []Group) bool {
	hasDefaultGroup := slices.ContainsFunc(groups, func(g Group) bool { return g.Name == defaultTarget })
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
