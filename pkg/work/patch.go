package work

import (
	"encoding/json"

	workv1 "open-cluster-management.io/api/work/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

type patch struct {
	Metadata patchMeta `json:"metadata"`
	Spec     any       `json:"spec,omitempty"`
}

type patchMeta struct {
	ResourceVersion string            `json:"resourceVersion,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`
	Annotations     map[string]string `json:"annotations,omitempty"`
}

// StampPatch is the JSON merge patch that writes new stamps to a work. With a
// resourceVersion the API server refuses it if the work has changed since.
func StampPatch(s rollout.Stamps, resourceVersion string) ([]byte, error) {
	state, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return json.Marshal(patch{Metadata: patchMeta{
		ResourceVersion: resourceVersion,
		Annotations:     map[string]string{v1alpha1.AnnotationState: string(state)},
	}})
}

// UpdatePatch is the JSON merge patch that makes an existing work the one that
// Build returned: its labels, its annotations and its whole spec.
func UpdatePatch(w *workv1.ManifestWork, resourceVersion string) ([]byte, error) {
	type deleteOption struct {
		*workv1.DeleteOption
		// What Build never sets has to be said to go: a merge patch keeps the rest.
		SelectivelyOrphan       any `json:"selectivelyOrphans"`
		TTLSecondsAfterFinished any `json:"ttlSecondsAfterFinished"`
	}
	type spec struct {
		workv1.ManifestWorkSpec
		DeleteOption deleteOption `json:"deleteOption"`
		Executor     any          `json:"executor"`
	}
	return json.Marshal(patch{
		Metadata: patchMeta{ResourceVersion: resourceVersion, Labels: w.Labels, Annotations: w.Annotations},
		Spec:     spec{ManifestWorkSpec: w.Spec, DeleteOption: deleteOption{DeleteOption: w.Spec.DeleteOption}},
	})
}
