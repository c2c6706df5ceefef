package health

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

func TestStrip(t *testing.T) {
	in := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"a": "b"}, "type": "Opaque",
		"metadata": map[string]any{
			"name": "x", "labels": map[string]any{"a": "b"}, "annotations": map[string]any{"a": "b"},
			"managedFields": []any{map[string]any{"manager": "x"}},
		},
		"status": map[string]any{"a": "b"},
	}}
	out, err := strip(in)
	if err != nil {
		t.Fatal(err)
	}
	want := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"name": "x", "labels": map[string]any{"a": "b"}},
		"status":   map[string]any{"a": "b"},
	}}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
}

func TestOlder(t *testing.T) {
	tests := map[string]struct {
		version, than string
		want          bool
	}{
		"nothing known":           {"5", "", false},
		"older":                   {"99", "100", true},
		"the same":                {"100", "100", false},
		"newer":                   {"101", "100", false},
		"that cannot be compared": {"abc", "100", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := older(tc.version, tc.than); got != tc.want {
				t.Error(got)
			}
		})
	}
}

func TestPlace(t *testing.T) {
	object := func(kind, namespace string) manifest.Object {
		return manifest.Object{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: kind}, Namespace: namespace}
	}
	tr := &tracked{namespace: "release", resources: map[schema.GroupKind]resource{
		{Kind: "Node"}: {namespaced: false}, {Kind: "Pod"}: {namespaced: true},
	}}
	tests := map[string]struct {
		object manifest.Object
		want   string
	}{
		"cluster-scoped":     {object("Node", "x"), ""},
		"its own namespace":  {object("Pod", "x"), "x"},
		"the release's":      {object("Pod", ""), "release"},
		"of an unknown kind": {object("Other", ""), "release"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tr.place(tc.object); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
