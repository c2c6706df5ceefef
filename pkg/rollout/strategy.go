package rollout

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// ValidatePolicy returns what is wrong with a policy, each error with its field's path.
func ValidatePolicy(policy *v1alpha1.RolloutPolicy) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if policy.Spec.BundleSelector != nil {
		if _, err := metav1.LabelSelectorAsSelector(policy.Spec.BundleSelector); err != nil {
			errs = append(errs, field.Invalid(spec.Child("bundleSelector"), policy.Spec.BundleSelector, err.Error()))
		}
	}
	refs := spec.Child("placementRefs")
	if len(policy.Spec.PlacementRefs) == 0 {
		errs = append(errs, field.Required(refs, "a policy needs a Placement"))
	}
	seen := map[string]bool{}
	for i := range policy.Spec.PlacementRefs {
		ref, path := &policy.Spec.PlacementRefs[i], refs.Index(i)
		switch {
		case ref.Name == "":
			errs = append(errs, field.Required(path.Child("name"), "the Placement's name"))
		case seen[ref.Name]:
			errs = append(errs, field.Duplicate(path.Child("name"), ref.Name))
		}
		seen[ref.Name] = true
		_, wrong := parseRef(ref, path)
		errs = append(errs, wrong...)
	}
	return errs
}

// parseRef takes a policy's strategy for one Placement with all that it says of groups.
func parseRef(ref *v1alpha1.PlacementRef, path *field.Path) (Strategy, field.ErrorList) {
	s, errs := parseStrategy(ocmStrategy(&ref.RolloutStrategy), path.Child("rolloutStrategy"))
	errs = append(errs, checkQueue(&ref.RolloutStrategy, path.Child("rolloutStrategy"))...)
	errs = append(errs, checkConcurrency(ref.MaxConcurrency, path.Child("maxConcurrency"))...)
	s.GroupConcurrency = ref.MaxConcurrency
	return s, append(errs, s.groups(ref.Groups, path.Child("groups"))...)
}

// groups takes the settings of single groups.
func (s *Strategy) groups(groups []v1alpha1.GroupSettings, path *field.Path) field.ErrorList {
	if len(groups) == 0 {
		return nil
	}
	var errs field.ErrorList
	s.Groups = make(map[string]GroupTerms, len(groups))
	for i, g := range groups {
		at := path.Index(i)
		switch {
		case g.Name == "":
			errs = append(errs, field.Required(at.Child("name"), "the decision group's name"))
		case s.has(g.Name):
			errs = append(errs, field.Duplicate(at.Child("name"), g.Name))
		}
		own := GroupTerms{MaxFailures: g.MaxFailures, MaxConcurrency: g.MaxConcurrency}
		if g.MinSuccessTime != nil {
			own.MinSuccessTime = &g.MinSuccessTime.Duration
			errs = append(errs, checkSoak(g.MinSuccessTime.Duration, at.Child("minSuccessTime"))...)
		}
		if g.ProgressDeadline != nil {
			deadline, wrong := parseDeadline(*g.ProgressDeadline, at.Child("progressDeadline"))
			own.ProgressDeadline = &deadline
			errs = append(errs, wrong...)
		}
		if g.MaxFailures != nil {
			errs = append(errs, checkLimit(*g.MaxFailures, 0, at.Child("maxFailures"))...)
		}
		errs = append(errs, checkConcurrency(g.MaxConcurrency, at.Child("maxConcurrency"))...)
		s.Groups[g.Name] = own
	}
	return errs
}

// has tells whether a group has settings of its own.
func (s *Strategy) has(group string) bool {
	_, ok := s.Groups[group]
	return ok
}

func checkConcurrency(v *intstr.IntOrString, path *field.Path) field.ErrorList {
	if v == nil {
		return nil
	}
	return checkLimit(*v, 1, path)
}

// parseStrategy turns OCM's strategy into ours, or says what is wrong with it.
func parseStrategy(in *clusterv1alpha1.RolloutStrategy, path *field.Path) (Strategy, field.ErrorList) {
	s := Strategy{Type: StrategyType(in.Type)}
	if s.Type == "" {
		s.Type = All
	}
	var errs field.ErrorList
	given := map[StrategyType]bool{All: in.All != nil, Progressive: in.Progressive != nil, ProgressivePerGroup: in.ProgressivePerGroup != nil}
	fields := map[StrategyType]string{All: "all", Progressive: "progressive", ProgressivePerGroup: "progressivePerGroup"}
	if fields[s.Type] == "" {
		return s, field.ErrorList{field.NotSupported(path.Child("type"), s.Type, []StrategyType{All, Progressive, ProgressivePerGroup})}
	}
	for _, t := range []StrategyType{All, Progressive, ProgressivePerGroup} {
		switch {
		case given[t] && t != s.Type:
			errs = append(errs, field.Forbidden(path.Child(fields[t]), "the type is "+string(s.Type)))
		case !given[t] && t == s.Type && t != All:
			errs = append(errs, field.Required(path.Child(fields[t]), "the type is "+string(t)))
		}
	}
	if len(errs) > 0 {
		return s, errs
	}
	at := path.Child(fields[s.Type])
	switch {
	case in.All != nil:
		errs = s.config(&in.All.RolloutConfig, at)
	case in.ProgressivePerGroup != nil:
		errs = s.config(&in.ProgressivePerGroup.RolloutConfig, at)
		errs = append(errs, s.mandatory(in.ProgressivePerGroup.MandatoryDecisionGroups.MandatoryDecisionGroups, at)...)
	case in.Progressive != nil:
		errs = s.config(&in.Progressive.RolloutConfig, at)
		errs = append(errs, s.mandatory(in.Progressive.MandatoryDecisionGroups.MandatoryDecisionGroups, at)...)
		// OCM's field is no pointer: an unset one is the number 0.
		if c := in.Progressive.MaxConcurrency; c != (intstr.IntOrString{}) {
			errs = append(errs, checkConcurrency(&c, at.Child("maxConcurrency"))...)
			s.QueueConcurrency = &c
		}
	}
	return s, errs
}

func (s *Strategy) config(c *clusterv1alpha1.RolloutConfig, path *field.Path) field.ErrorList {
	s.MinSuccessTime, s.MaxFailures = c.MinSuccessTime.Duration, c.MaxFailures
	errs := checkSoak(s.MinSuccessTime, path.Child("minSuccessTime"))
	deadline, wrong := parseDeadline(c.ProgressDeadline, path.Child("progressDeadline"))
	s.ProgressDeadline = deadline
	errs = append(errs, wrong...)
	return append(errs, checkLimit(c.MaxFailures, 0, path.Child("maxFailures"))...)
}

func (s *Strategy) mandatory(groups []clusterv1alpha1.MandatoryDecisionGroup, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[MandatoryGroup]bool{}
	for i, g := range groups {
		at := path.Child("mandatoryDecisionGroups").Index(i)
		m := MandatoryGroup{Name: g.GroupName, Index: int(g.GroupIndex)}
		if m.Name != "" {
			m.Index = 0
		}
		if m.Index < 0 {
			errs = append(errs, field.Invalid(at.Child("groupIndex"), m.Index, "must not be negative"))
		}
		if seen[m] {
			errs = append(errs, field.Duplicate(at, m.label()))
		}
		seen[m] = true
		s.Mandatory = append(s.Mandatory, m)
	}
	return errs
}

func checkSoak(d time.Duration, path *field.Path) field.ErrorList {
	if d < 0 {
		return field.ErrorList{field.Invalid(path, d.String(), "must not be negative")}
	}
	return nil
}

// parseDeadline takes None, nothing, or a positive Go duration.
func parseDeadline(v string, path *field.Path) (time.Duration, field.ErrorList) {
	if v == "" || v == "None" {
		return 0, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		return 0, field.ErrorList{field.Invalid(path, v, "must be None or a positive duration such as 90s, 30m or 1h30m")}
	}
	return d, nil
}

// percentage is what the API of OCM and ours take for one.
var percentage = regexp.MustCompile(`^(100|[0-9]{1,2})%$`)

// checkLimit takes a number of at least least, or a percentage up to 100%. A number
// written as a string is refused: somebody forgot a percent sign or did not.
func checkLimit(v intstr.IntOrString, least int, path *field.Path) field.ErrorList {
	const want = "must be a number or a percentage from 0% to 100%"
	if v.Type == intstr.Int {
		if v.IntValue() < least {
			return field.ErrorList{field.Invalid(path, v.IntValue(), "must be at least "+strconv.Itoa(least))}
		}
		return nil
	}
	if _, err := strconv.ParseUint(v.StrVal, 10, 32); err == nil {
		return field.ErrorList{field.Invalid(path, v.StrVal,
			fmt.Sprintf("is text: write the number %s without quotes, or the percentage %q", v.StrVal, v.StrVal+"%"))}
	}
	if !percentage.MatchString(v.StrVal) {
		return field.ErrorList{field.Invalid(path, v.StrVal, want)}
	}
	if n, err := strconv.Atoi(strings.TrimSuffix(v.StrVal, "%")); err != nil || n < least {
		return field.ErrorList{field.Invalid(path, v.StrVal, "must be at least "+strconv.Itoa(least)+"%")}
	}
	return nil
}
