package target

import (
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

// Explanation says why a bundle goes to a cluster, or why not.
type Explanation struct {
	Cluster string
	// Deploys is true when the bundle goes there.
	Deploys bool
	// Sentence says the answer.
	Sentence string
	// Steps are all restrictions, targets and customizations, in the order in which they
	// are tried.
	Steps []Step
}

// Step is a restriction, target or customization.
type Step struct {
	// Kind is restriction, target or customization.
	Kind string
	// Field is where it stands, such as spec.targets[1].
	Field string
	Name  string
	// Matches is true when all that it asks for holds; Used when it had a say.
	Matches, Used bool
	// Sentence says why.
	Sentence string
}

// Explain says which target sends a bundle to a cluster, and of all others why not. An
// invalid selector is an error that names its field.
func Explain(b *fleet.Bundle, groups []Group, c *Cluster) (Explanation, error) {
	plan, err := compile(b, groups)
	if err != nil {
		return Explanation{}, err
	}
	return Explanation{Cluster: c.Name, Deploys: plan.choose(c).deploys}, nil
}
