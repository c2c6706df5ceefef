package lenient

import (
	"strings"
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestRead(t *testing.T) {
	k := Kind{New: func() client.Object { return &fleet.Bundle{} }}
	bundle := func(limit any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "fleet.cattle.io/v1alpha1", "kind": "Bundle",
			"metadata": map[string]any{"name": "web", "namespace": "team", "resourceVersion": "7",
				"annotations": map[string]any{annotation: "by hand", "other": "stays"}},
			"spec":   map[string]any{"rolloutStrategy": map[string]any{"maxUnavailable": limit}, "paused": true},
			"status": map[string]any{"display": map[string]any{"state": "Ready"}, "summary": map[string]any{"ready": int64(1), "desiredReady": int64(1)}},
		}}
	}
	tests := map[string]struct {
		limit      any
		unreadable string
		paused     bool
	}{
		"an object that Go can read is whole, whatever people annotate": {limit: int64(3), paused: true},
		"a limit that fits into no number takes the spec, and says why": {limit: int64(99999999999), unreadable: "99999999999"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := k.read(bundle(tc.limit)).(*fleet.Bundle)
			got := Unreadable(b)
			if (got == "") != (tc.unreadable == "") || !strings.Contains(got, tc.unreadable) {
				t.Errorf("unreadable %q, want it to name %q", got, tc.unreadable)
			}
			if b.Spec.Paused != tc.paused {
				t.Errorf("paused %v, want %v", b.Spec.Paused, tc.paused)
			}
			if b.Name != "web" || b.ResourceVersion != "7" || b.Annotations["other"] != "stays" || b.Status.Display.State != "Ready" {
				t.Errorf("metadata or status are lost: %v %v", b.ObjectMeta, b.Status.Display)
			}
		})
	}
}
