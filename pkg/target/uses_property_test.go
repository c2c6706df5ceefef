package target

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// texts that look at clusters in every way, and pieces that are a template only where
// targets bring them together.
var texts = []string{
	"plain", "global.fleet.clusterLabels.a", "${ .ClusterName }", "${ .ClusterLabels.a }", `${ index .ClusterLabels "b" }`,
	`${ get .ClusterLabels "b" }`, `${ hasKey .ClusterLabels "c" }`, "${ .ClusterLabels }", "${ $.ClusterLabels.a }",
	"${ $x := .ClusterLabels }${ $x.a }", "${ with .ClusterLabels }${ .a }${ end }", "${ with . }${ .ClusterClaims.a }${ end }",
	"${ range $k, $v := .ClusterLabels }${ $k }=${ $v },${ end }", "${ (.ClusterLabels).a }", "${ ($).ClusterLabels.a }",
	"${ (index . \"ClusterLabels\").a }", "${ get . \"ClusterAnnotations\" }", "${ pluck \"a\" .ClusterLabels .ClusterAnnotations }",
	`${ .ClusterLabels | dig "a" "no" }`, `${ dig "ClusterClaims" "a" "no" . }`, `${ define "t" }${ .a }${ end }${ template "t" .ClusterLabels }`,
	`${ block "u" .ClusterAnnotations }${ .a }${ end }`, `${ template "t" .ClusterClaims }`, "${ .ClusterValues.a }", "${ .ClusterValues.m.a }",
	"${ if .ClusterAnnotations.a }x${ else }${ .ClusterClaims.b }${ end }", "${ .ClusterValues | keys | join `,` }", "${ len .ClusterClaims }",
	"${ $_ := set .ClusterLabels `z` .ClusterName }", "${ get .ClusterLabels `z` }", "${ index .fleetLabels 0 }", "${ fail .ClusterClaims.a }",
	`${ "a" | get .ClusterAnnotations }`, "${ and .ClusterLabels.c .ClusterAnnotations.c }", "${ $ | toJson }", `${ (dict "x" .ClusterLabels).x.a }`,
	"${ if true }", "${ end }", "${ define `h` }", "${ .ClusterClaims.c }", "${ .ClusterName -}",
	"${ $y := .ClusterLabels }", "${ $y.a }",
}

// halves hide what the other ones look at, unless they stand between.
var halves = []string{"${/*", "*/}", "${ .ClusterLabels.c } */}", "${ `", "` }", "${ .ClusterLabels.b }` }"}

func anyText(r *rand.Rand) string {
	if r.IntN(4) == 0 {
		return halves[r.IntN(len(halves))]
	}
	return texts[r.IntN(len(texts))]
}

func anyHelm(r *rand.Rand) *fleet.HelmOptions {
	h := &fleet.HelmOptions{DisablePreProcess: r.IntN(12) == 0}
	data := map[string]any{}
	for range r.IntN(4) {
		key := string(rune('a' + r.IntN(5)))
		switch r.IntN(5) {
		case 0:
			data["m"] = map[string]any{key: anyText(r), string(rune('a' + r.IntN(5))): anyText(r)}
		case 1:
			data[key] = []any{anyText(r)}
		case 2:
			data[anyText(r)] = key
		default:
			data[key] = anyText(r)
		}
	}
	if len(data) > 0 {
		h.Values = &fleet.GenericMap{Data: data}
	}
	if r.IntN(4) == 0 {
		h.TemplateValues = map[string]string{"t": anyText(r)}
	}
	return h
}

func anySelector(r *rand.Rand) *metav1.LabelSelector {
	key := string(rune('a' + r.IntN(3)))
	switch r.IntN(5) {
	case 0:
		return &metav1.LabelSelector{MatchLabels: map[string]string{key: "1"}}
	case 1:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: metav1.LabelSelectorOpDoesNotExist}}}
	case 2:
		return nil
	default:
		return &metav1.LabelSelector{}
	}
}

func anyBundle(r *rand.Rand) (*fleet.Bundle, []Group) {
	b := bundle()
	b.Spec.Helm = anyHelm(r)
	if r.IntN(2) == 0 {
		b.Spec.TargetCustomizationMode = fleet.TargetCustomizationModeAllMatches
	}
	for range 1 + r.IntN(4) {
		t := fleet.BundleTarget{ClusterSelector: anySelector(r)}
		if r.IntN(2) == 0 {
			t.Helm = anyHelm(r)
		}
		switch r.IntN(6) {
		case 0:
			t.ClusterGroup = "one"
		case 1:
			t.ClusterGroupSelector = anySelector(r)
		case 2:
			t.DoNotDeploy = r.IntN(3) == 0
		}
		b.Spec.Targets = append(b.Spec.Targets, t)
	}
	for range r.IntN(3) {
		t := fleet.BundleTargetRestriction{ClusterSelector: anySelector(r)}
		if r.IntN(3) == 0 {
			t.ClusterGroupSelector = anySelector(r)
		}
		b.Spec.TargetRestrictions = append(b.Spec.TargetRestrictions, t)
	}
	groups := make([]Group, 2)
	for i, name := range []string{"one", "two"} {
		groups[i] = clusterGroup(name, "", map[string]string{"a": fmt.Sprint(i)})
		groups[i].Spec.Selector = anySelector(r)
	}
	return b, groups
}

// change returns a cluster that says one thing otherwise.
func change(r *rand.Rand, c Cluster) Cluster {
	key, value := string(rune('a'+r.IntN(3))), fmt.Sprint(r.IntN(3))
	set := func(m map[string]string) map[string]string {
		m = maps.Clone(m)
		if r.IntN(3) == 0 {
			delete(m, key)
		} else {
			m[key] = value
		}
		return m
	}
	switch r.IntN(4) {
	case 0:
		c.Annotations = set(c.Annotations)
	case 1:
		c.Claims = set(c.Claims)
	case 2:
		c.Values = maps.Clone(c.Values)
		c.Values[key] = value
	default:
		c.Labels = set(c.Labels)
	}
	return c
}

// outcome is all that a bundle comes to on a cluster.
func outcome(b *fleet.Bundle, groups []Group, c Cluster) any {
	matches, err := Select(b, groups, []Cluster{c})
	if err != nil || len(matches) == 0 {
		return fmt.Sprint(err)
	}
	options, err := matches[0].Render(&c)
	if err != nil {
		return matches[0].Rule + err.Error()
	}
	return options
}

func TestWhatAffectsNothingChangesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2)) //nolint:gosec // a test that is the same each time
	spared := 0
	for range 1_500 {
		b, groups := anyBundle(r)
		c := Cluster{
			Name: "dev", Labels: map[string]string{"a": "1", "b": "2"}, Annotations: map[string]string{"a": "1"},
			Claims: map[string]string{"a": "1", "b": "2"}, Values: map[string]any{"a": "1", "m": map[string]any{"a": "1"}},
		}
		for range 3 {
			other := change(r, c)
			if usesOf(b, groups).Affected(&c, &other) {
				continue
			}
			spared++
			if diff := cmp.Diff(outcome(b, groups, c), outcome(b, groups, other)); diff != "" {
				t.Fatalf("not affected, and another outcome: %s\nof %v\nand %v\nspec %+v\ntargets %+v", diff, c, other, b.Spec.Helm.Values, b.Spec.Targets)
			}
		}
	}
	if spared < 200 {
		t.Errorf("only %d changes affected nothing", spared)
	}
}
