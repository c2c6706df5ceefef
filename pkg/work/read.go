package work

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	workv1 "open-cluster-management.io/api/work/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// Read returns what a work says. It reads annotations, labels and status only,
// and so a work that Strip has been at as well. What the manager did not write,
// or somebody has damaged, is an error that names the work and the annotation:
// nothing must be decided from half of a memory.
func Read(w *workv1.ManifestWork) (rollout.Work, error) {
	out := rollout.Work{
		ID:        w.Annotations[v1alpha1.AnnotationID],
		Revision:  w.Annotations[v1alpha1.AnnotationRevision],
		Admission: w.Annotations[v1alpha1.AnnotationAdmission],
		Shape:     w.Annotations[v1alpha1.AnnotationHash],
		Deleting:  !w.DeletionTimestamp.IsZero(),
		Refused:   refused(w),
		Verdict:   verdict(w),
	}
	for _, name := range []string{v1alpha1.AnnotationID, v1alpha1.AnnotationAdmission, v1alpha1.AnnotationLane} {
		if w.Annotations[name] == "" {
			return rollout.Work{}, damaged(w, name, errors.New("is missing"))
		}
	}
	var err error
	out.Place.Lane = w.Annotations[v1alpha1.AnnotationLane]
	if out.Place.GroupKey, err = parseGroup(w.Annotations[v1alpha1.AnnotationGroup]); err != nil {
		return rollout.Work{}, damaged(w, v1alpha1.AnnotationGroup, err)
	}
	if out.Stamps, err = parseStamps(w.Annotations[v1alpha1.AnnotationState]); err != nil {
		return rollout.Work{}, damaged(w, v1alpha1.AnnotationState, err)
	}
	if out.MinSuccessTime, err = time.ParseDuration(w.Annotations[annotationMinSuccessTime]); err != nil {
		return rollout.Work{}, damaged(w, annotationMinSuccessTime, err)
	}
	return out, nil
}

func damaged(w *workv1.ManifestWork, annotation string, err error) error {
	return fmt.Errorf("ManifestWork %s/%s: annotation %s: %w; restore it, or delete the work to have it admitted anew",
		w.Namespace, w.Name, annotation, err)
}

func parseStamps(text string) (rollout.Stamps, error) {
	var stamps *rollout.Stamps
	if err := json.Unmarshal([]byte(text), &stamps); err != nil {
		return rollout.Stamps{}, err
	}
	if stamps == nil {
		return rollout.Stamps{}, errors.New("is null")
	}
	return *stamps, nil
}

// formatGroup writes a group as name#index.
func formatGroup(g rollout.GroupKey) string { return g.Name + "#" + strconv.Itoa(g.Index) }

func parseGroup(text string) (rollout.GroupKey, error) {
	at := strings.LastIndexByte(text, '#')
	if at < 0 {
		return rollout.GroupKey{}, fmt.Errorf("%q is not NAME#INDEX", text)
	}
	index, err := strconv.Atoi(text[at+1:])
	if err != nil || index < 0 {
		return rollout.GroupKey{}, fmt.Errorf("%q is not NAME#INDEX", text)
	}
	return rollout.GroupKey{Name: text[:at], Index: index}, nil
}
