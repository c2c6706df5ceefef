package target

import (
	"math"
	"regexp"
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

func TestDeploymentID(t *testing.T) {
	base := `{namespace: a, helm: {values: {b: 1, a: {y: 2, x: [1]}}}}`
	cases := map[string]struct {
		options string
		content string
		same    bool
	}{
		"the same":         {options: base, same: true},
		"another order":    {options: `{helm: {values: {a: {x: [1], y: 2}, b: 1}}, namespace: a}`, same: true},
		"with diff":        {options: `{namespace: a, diff: {comparePatches: [{kind: Job}]}, helm: {values: {b: 1, a: {y: 2, x: [1]}}}}`, same: true},
		"with drift":       {options: `{namespace: a, correctDrift: {enabled: true}, helm: {values: {b: 1, a: {y: 2, x: [1]}}}}`, same: true},
		"keeping":          {options: `{namespace: a, keepResources: true, helm: {values: {b: 1, a: {y: 2, x: [1]}}}}`, same: true},
		"another value":    {options: `{namespace: a, helm: {values: {b: 2, a: {y: 2, x: [1]}}}}`},
		"another content":  {options: base, content: "s-2"},
		"a forced sync":    {options: `{namespace: a, forceSyncGeneration: 1, helm: {values: {b: 1, a: {y: 2, x: [1]}}}}`},
		"another order in": {options: `{namespace: a, helm: {values: {b: 1, a: {y: 2, x: [1, 1]}}}}`},
	}
	want, err := DeploymentID("s-1", options(t, base))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^s-1:[0-9a-f]{64}$`).MatchString(want) {
		t.Errorf("id %q has another form", want)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			content := tc.content
			if content == "" {
				content = "s-1"
			}
			got, err := DeploymentID(content, options(t, tc.options))
			if err != nil || (got == want) != tc.same {
				t.Errorf("got %s, %v; first was %s; want the same: %v", got, err, want, tc.same)
			}
		})
	}
}

func TestDeploymentIDOfWhatIsNoJSON(t *testing.T) {
	opts := fleet.BundleDeploymentOptions{Helm: &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"x": math.NaN()}}}}
	_, err := DeploymentID("s-1", opts)
	checkError(t, err, "options of content s-1")
}

func TestRevision(t *testing.T) {
	first := func() *fleet.Bundle { return bundle(fleet.BundleTarget{ClusterName: "dev"}) }
	want := Revision(first(), "s-1")
	if !regexp.MustCompile(`^[0-9a-f]{10}$`).MatchString(want) {
		t.Errorf("revision %q has another form", want)
	}
	cases := map[string]struct {
		change  func(*fleet.Bundle)
		content string
		same    bool
	}{
		"nothing":            {change: func(*fleet.Bundle) {}, same: true},
		"a pause":            {change: func(b *fleet.Bundle) { b.Spec.Paused = true }, same: true},
		"a label":            {change: func(b *fleet.Bundle) { b.Labels = map[string]string{"a": "b"} }, same: true},
		"a strategy":         {change: func(b *fleet.Bundle) { b.Spec.RolloutStrategy = &fleet.RolloutStrategy{} }, same: true},
		"the server default": {change: func(b *fleet.Bundle) { b.Spec.TargetCustomizationMode = "FirstMatch" }, same: true},
		"content":            {change: func(*fleet.Bundle) {}, content: "s-2"},
		"an option":          {change: func(b *fleet.Bundle) { b.Spec.TargetNamespace = "x" }},
		"a target":           {change: func(b *fleet.Bundle) { b.Spec.Targets[0].ClusterName = "stg" }},
		"a target's option":  {change: func(b *fleet.Bundle) { b.Spec.Targets[0].NamespaceLabels = map[string]string{"a": "b"} }},
		"a restriction": {change: func(b *fleet.Bundle) {
			b.Spec.TargetRestrictions = []fleet.BundleTargetRestriction{{ClusterName: "dev"}}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b, content := first(), "s-1"
			tc.change(b)
			if tc.content != "" {
				content = tc.content
			}
			if got := Revision(b, content); (got == want) != tc.same {
				t.Errorf("got %s, first was %s; want the same: %v", got, want, tc.same)
			}
		})
	}
}
