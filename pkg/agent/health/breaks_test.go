package health

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

func TestBreaks(t *testing.T) {
	const label = "owner"
	deployment := func(name string, ready bool) *unstructured.Unstructured {
		available, condition := int64(0), "False"
		if ready {
			available, condition = 1, "True"
		}
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]any{"name": name, "namespace": "x", "labels": map[string]any{label: "web"}},
			"spec":     map[string]any{"replicas": int64(1)},
			"status": map[string]any{
				"replicas": available, "readyReplicas": available, "updatedReplicas": available, "availableReplicas": available,
				"conditions": []any{map[string]any{"type": "Available", "status": condition}},
			},
		}}
	}
	w := New(nil, nil, label, func(string) {})
	see := func(u *unstructured.Unstructured) {
		if _, err := w.observe(u); err != nil {
			t.Fatal(err)
		}
	}
	want := func(n uint64, why string) {
		t.Helper()
		if got := w.breaks.of("web"); got != n {
			t.Errorf("%s: %d breaks, want %d", why, got, n)
		}
	}

	see(deployment("app", false))
	want(0, "nobody follows it")
	w.breaks.follow("web", []manifest.Object{{GroupVersionKind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Name: "app"}})
	see(deployment("app", true))
	see(deployment("old", false))
	want(0, "ready, and an object that is not part of the release any more")
	see(deployment("app", false))
	see(deployment("app", true))
	want(1, "ready again before anybody looked")
	w.gone(deployment("app", true))
	want(2, "deleted")
	w.breaks.follow("web", nil)
	want(2, "a new revision keeps the count")
	w.breaks.forget("web")
	want(0, "gone with its owner")
}
