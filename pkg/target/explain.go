package target

import (
	"fmt"
	"slices"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
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

// The kinds of steps.
const (
	StepRestriction   = "restriction"
	StepTarget        = "target"
	StepCustomization = "customization"
)

// Step is a restriction, target or customization.
type Step struct {
	// Kind is StepRestriction, StepTarget or StepCustomization.
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
	p, err := compile(b, groups)
	if err != nil {
		return Explanation{}, fmt.Errorf("bundle %s/%s: %w", b.Namespace, b.Name, err)
	}
	e := explainer{plan: p, groups: newGroups(groups), cluster: c, choice: p.choose(c)}
	e.out = Explanation{Cluster: c.Name, Deploys: e.choice.deploys}
	allowed := e.restrictions()
	chosen := e.targets(allowed)
	e.customizations(chosen)
	e.out.Sentence = e.answer(allowed, chosen)
	return e.out, nil
}

type explainer struct {
	plan    *plan
	groups  *groups
	cluster *Cluster
	choice  choice
	out     Explanation
}

// restrictions tells whether the cluster is among those that the bundle is allowed on.
func (e *explainer) restrictions() bool {
	restrictions := e.plan.bundle.Spec.TargetRestrictions
	allowed := len(restrictions) == 0
	for i := range restrictions {
		s := Step{
			Kind: StepRestriction, Field: field.NewPath("spec", "targetRestrictions").Index(i).String(), Name: restrictions[i].Name,
			Matches: e.plan.restrictions[i].match(e.cluster),
		}
		switch {
		case !s.Matches:
			s.Sentence = "does not allow the cluster: " + e.whyNot(restrictionTerms(&restrictions[i]))
		case allowed:
			s.Sentence = "allows the cluster too; an earlier restriction does already"
		default:
			s.Used, s.Sentence = true, "allows the cluster"
		}
		allowed = allowed || s.Matches
		e.out.Steps = append(e.out.Steps, s)
	}
	return allowed
}

// targets returns the one that decides, nil if there is none.
func (e *explainer) targets(allowed bool) *rule {
	var chosen *rule
	for _, r := range e.plan.targets {
		s := e.step(StepTarget, r)
		switch {
		case !s.Matches:
			s.Sentence = "does not match: " + e.whyNot(e.terms(r))
		case !allowed:
			s.Sentence = "would match, but no restriction allows the cluster"
		case !e.plan.allows(r, e.cluster):
			s.Sentence = "would match, but no restriction allows the cluster by the same ClusterGroup"
		case chosen != nil:
			s.Sentence = fmt.Sprintf("would match, but the earlier target %s matched", chosen.name)
		case r.doNotDeploy:
			s.Used, s.Sentence = true, "matches and says doNotDeploy"
		default:
			s.Used, s.Sentence = true, "matches: its options are merged over the bundle's"
		}
		if s.Used {
			chosen = r
		}
		e.out.Steps = append(e.out.Steps, s)
	}
	return chosen
}

func (e *explainer) customizations(chosen *rule) {
	var before *rule
	for _, r := range e.plan.customizations {
		s := e.step(StepCustomization, r)
		switch {
		case !s.Matches:
			s.Sentence = "does not match: " + e.whyNot(e.terms(r))
		case chosen == nil:
			s.Sentence = "would match, but no target selects the cluster, and a customization does not"
		case chosen.doNotDeploy:
			s.Sentence = fmt.Sprintf("would match, but target %s says doNotDeploy", chosen.name)
		case before != nil && (before.doNotDeploy || !e.plan.allMatches):
			s.Sentence = fmt.Sprintf("would match, but %s", e.earlier(before))
		case r.doNotDeploy:
			s.Used, s.Sentence = true, "matches and says doNotDeploy"
		case e.plan.allMatches:
			s.Used, s.Sentence = true, "matches: its options are merged over those before it"
		default:
			s.Used, s.Sentence = true, fmt.Sprintf("matches: its options are used in place of those of target %s", chosen.name)
		}
		if s.Used {
			before = r
		}
		e.out.Steps = append(e.out.Steps, s)
	}
}

func (e *explainer) earlier(r *rule) string {
	if r.doNotDeploy {
		return fmt.Sprintf("the earlier customization %s says doNotDeploy", r.name)
	}
	return fmt.Sprintf("the earlier customization %s matched, and only the first one counts (targetCustomizationMode: AllMatches merges all of them)", r.name)
}

func (e *explainer) step(kind string, r *rule) Step {
	return Step{Kind: kind, Field: field.NewPath("spec", "targets").Index(r.index).String(), Name: r.name, Matches: r.match(e.cluster)}
}

func (e *explainer) terms(r *rule) terms { return targetTerms(&e.plan.bundle.Spec.Targets[r.index]) }

func (e *explainer) answer(allowed bool, chosen *rule) string {
	var says string
	for _, s := range e.out.Steps {
		if s.Used && !e.out.Deploys && s.Kind != StepRestriction {
			// The last one that was used is the one that said no.
			says = fmt.Sprintf("%s %s says doNotDeploy", s.Kind, s.Name)
		}
	}
	switch {
	case e.out.Deploys:
		return "is deployed to, with the options of " + namesOf(e.choice.rules, e.plan)
	case !allowed:
		return "is not deployed to: no restriction allows it"
	case chosen == nil && len(e.plan.targets) == 0:
		return "is not deployed to: the bundle has no targets"
	case chosen == nil:
		return "is not deployed to: no target matches it"
	default:
		return "is not deployed to: " + says
	}
}

func namesOf(rules []*rule, p *plan) string {
	out := make([]string, len(rules))
	for i, r := range rules {
		kind := StepTarget
		if slices.Contains(p.customizations, r) {
			kind = StepCustomization
		}
		out[i] = kind + " " + r.name
	}
	return strings.Join(out, ", then ")
}
