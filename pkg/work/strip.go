package work

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
)

// Strip is a cache transform: it takes from a ManifestWork what Read does not
// need, above all the workload, so that 100,000 works fit in memory. It changes
// the object that it is given; other objects pass.
func Strip(obj any) (any, error) {
	w, ok := obj.(*workv1.ManifestWork)
	if !ok {
		return obj, nil
	}
	w.ManagedFields = nil
	w.Spec = workv1.ManifestWorkSpec{}
	w.Status.Conditions = only(w.Status.Conditions, workv1.WorkApplied)
	for i := range w.Status.ResourceStatus.Manifests {
		m := &w.Status.ResourceStatus.Manifests[i]
		m.Conditions = only(m.Conditions, workv1.ManifestApplied)
	}
	return w, nil
}

// only copies the condition of a type, so that the others can be freed.
func only(conditions []metav1.Condition, kind string) []metav1.Condition {
	for i := range conditions {
		if conditions[i].Type == kind {
			return []metav1.Condition{conditions[i]}
		}
	}
	return nil
}
