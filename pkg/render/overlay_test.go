package render

import (
	"errors"
	"strings"
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

// overlays names the overlays of a bundle.
func (in Input) overlays(names ...string) Input {
	in.Options.YAML = &fleet.YAMLOptions{Overlays: names}
	return in
}

func TestOverlayErrors(t *testing.T) {
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{name: secret-value}]}}}\n"
	one := func(base, patch string) Input {
		return input("a.yaml", base, "overlays/dev/a_patch.yaml", patch).overlays("dev")
	}
	tests := map[string]struct {
		in   Input
		want string
	}{
		"an overlay that is not there": {
			input("a.yaml", configMap, "overlays/dev/b.yaml", "", "overlays/eu/b.yaml", "").overlays("dev", "prod"),
			`yaml.overlays: there is no overlay "prod", only dev, eu`,
		},
		"no overlay at all": {
			input("a.yaml", configMap).overlays("prod"), `yaml.overlays: there is no overlay "prod", the bundle has no files below overlays/`,
		},
		"a patch without its file": {
			input("a.yaml", configMap, "overlays/dev/sub/b_patch.yaml", "x: 1").overlays("dev"),
			"overlays/dev/sub/b_patch.yaml: there is no file sub/b.yaml to patch",
		},
		"a patch of a file of another overlay that is not selected": {
			input("a.yaml", configMap, "overlays/eu/b.yaml", configMap, "overlays/dev/b_patch.yaml", "x: 1").overlays("dev"),
			"overlays/dev/b_patch.yaml: there is no file b.yaml to patch",
		},
		"a patch of several documents":  {one(configMap, "x: 1\n---\ny: 1"), "overlays/dev/a_patch.yaml: patch a.yaml: the patch holds several documents"},
		"a file of several documents":   {one(configMap+"---\n"+configMap, "x: 1"), "the file to patch holds several documents"},
		"an empty patch":                {one(configMap, "# x\n"), "the patch is empty"},
		"a patch that is no YAML":       {one(configMap, "a: b: c"), "the patch is no YAML"},
		"a patch that is no object":     {one(configMap, "text"), "one of both is no object"},
		"a list that is no JSON patch":  {one(configMap, "[1]"), "not of the operations of a JSON patch"},
		"a JSON patch that fails":       {one(configMap, "[{op: remove, path: /nothing}]"), "/nothing"},
		"a JSON patch of nothing":       {one("[]", "[{op: add, path: /0/x, value: 1}]"), "patch a.yaml"},
		"a list item without its key":   {one(deployment, "spec: {template: {spec: {containers: [{image: x}]}}}"), "lacks the field by which the list is merged"},
		"an unknown directive":          {one(deployment, "spec: {$patch: secret-value}"), "wrong $patch directives"},
		"what the patch made is broken": {one(configMap, "kind: null"), "a.yaml: document 1: kind is missing"},
		"apiVersion that is no text":    {one("apiVersion: [1]\nkind: X", "x: 1"), "apiVersion or kind"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := rendered(t, tc.in)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !errors.Is(err, ErrInvalid) {
				t.Fatalf("error %v, want %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "secret-value") {
				t.Errorf("the error quotes the file: %v", err)
			}
		})
	}
}

func TestOverlaysAreForRawYAML(t *testing.T) {
	in := input("Chart.yaml", chartYAML, "templates/a.yaml", configMap, "overlays/dev/templates/a.yaml", "no").overlays("dev", "none")
	got, err := rendered(t, in)
	if err != nil || !strings.Contains(got, "text: two") {
		t.Errorf("%v, rendered %s", err, got)
	}
}

func FuzzOverlay(f *testing.F) {
	f.Add(configMap, "data: {text: x}")
	f.Add(configMap, "[{op: add, path: /data/x, value: y}]")
	f.Add("apiVersion: v1\nkind: Pod", "spec: {containers: [{name: a, $patch: delete}], $setElementOrder/containers: [{name: a}]}")
	f.Add("[]", "[{op: copy, from: '', path: /0}]")
	f.Add("null", "{}")
	f.Fuzz(func(_ *testing.T, base, patch string) {
		// An error is fine, a panic is not.
		_, _ = applyPatch([]byte(base), []byte(patch))
	})
}
