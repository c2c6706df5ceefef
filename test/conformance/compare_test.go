package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	fleetBundle = `apiVersion: fleet.cattle.io/v1alpha1
kind: Bundle
metadata:
  labels:
    fleet.cattle.io/commit: "0000000"
  name: web
  namespace: apps
spec:
  helm: {values: {big: 9007199254740993, list: [a, b]}}
  resources:
  - {name: a.yaml, content: A}
  - {name: b.yaml, content: B}
`
	other = `apiVersion: fleet.cattle.io/v1alpha1
kind: Bundle
metadata: {name: other, namespace: apps}
spec: {}
`
)

func TestCompareTellsFields(t *testing.T) {
	for name, test := range map[string]struct {
		ours string
		want []difference
	}{
		"the same": {ours: fleetBundle},
		"another order of files, and no commit": {ours: `kind: Bundle
apiVersion: fleet.cattle.io/v1alpha1
metadata: {name: web, namespace: apps}
spec:
  resources:
  - {name: b.yaml, content: B}
  - {name: a.yaml, content: A}
  helm: {values: {list: [a, b], big: 9007199254740993}}
`},
		"another file, a number that a float does not tell apart, a shorter list, and more": {ours: `apiVersion: fleet.cattle.io/v1alpha1
kind: Bundle
metadata: {name: web, namespace: apps, labels: {a: b}}
spec:
  resources:
  - {name: a.yaml, content: "A ", encoding: x}
  - {name: c.yaml, content: C}
  helm: {values: {list: [a], big: 9007199254740992}}
`, want: []difference{
			{Field: "metadata.labels", Fleet: absent, Ours: `{"a":"b"}`},
			{Field: "spec.helm.values.big", Fleet: "9007199254740993", Ours: "9007199254740992"},
			{Field: "spec.helm.values.list[1]", Fleet: `"b"`, Ours: absent},
			{Field: "spec.resources.a.yaml.content", Fleet: `"A"`, Ours: `"A "`},
			{Field: "spec.resources.a.yaml.encoding", Fleet: absent, Ours: `"x"`},
			{Field: "spec.resources.b.yaml", Fleet: `{"content":"B","name":"b.yaml"}`, Ours: absent},
			{Field: "spec.resources.c.yaml", Fleet: absent, Ours: `{"content":"C","name":"c.yaml"}`},
		}},
		"a list that became a text": {ours: `apiVersion: fleet.cattle.io/v1alpha1
kind: Bundle
metadata: {name: web, namespace: apps}
spec:
  helm: {values: {big: 9007199254740993, list: a}}
  resources: [{name: a.yaml, content: A}, {name: b.yaml, content: B}]
`, want: []difference{{Field: "spec.helm.values.list", Fleet: `["a","b"]`, Ours: `"a"`}}},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range test.want {
				test.want[i].Case, test.want[i].Object = "case", "Bundle apps/web"
			}
			if diff := cmp.Diff(test.want, compare("case", parsed(t, fleetBundle), parsed(t, test.ours))); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompareTellsObjects(t *testing.T) {
	want := []difference{
		{Case: "case", Object: "Bundle apps/other", Fleet: absent, Ours: "printed"},
		{Case: "case", Object: "Bundle apps/web", Fleet: "printed", Ours: absent},
	}
	if diff := cmp.Diff(want, compare("case", parsed(t, fleetBundle), parsed(t, other))); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

// Fleet prints nothing between bundles; a text in a file that looks like an object is none.
func TestParseFindsObjects(t *testing.T) {
	file := "apiVersion: v1\nkind: X\nmetadata: {name: x}\nspec:\n  resources:\n  - name: f\n    content: |\n      apiVersion: v1\n      ---\n"
	for name, text := range map[string]string{
		"with separators":    "---\n" + other + "---\n" + file,
		"without separators": other + file,
	} {
		t.Run(name, func(t *testing.T) {
			got := parsed(t, text)
			if len(got) != 2 || got["Bundle apps/other"] == nil || got["X <nil>/x"] == nil {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"an object that is there twice": other + other,
		"a file that is there twice":    other[:len(other)-len("spec: {}\n")] + "spec: {resources: [{name: a}, {name: a}]}\n",
		"a file without a name":         other[:len(other)-len("spec: {}\n")] + "spec: {resources: [{content: a}]}\n",
		"what is no object":             "apiVersion: [\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := parse([]byte(text)); err == nil {
				t.Errorf("got %v, want an error", got)
			}
		})
	}
}

func parsed(t *testing.T, text string) map[string]object {
	t.Helper()
	objects, err := parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}
