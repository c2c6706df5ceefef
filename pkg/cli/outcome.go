package cli

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// outcome is the exit status of a rollout. A status from before the last change of the
// spec, such as a pin, says nothing about what becomes of it.
func outcome(r *v1alpha1.Rollout) error {
	switch {
	case r.Status.ObservedGeneration < r.Generation:
		return exitUnderWay
	case meta.IsStatusConditionTrue(r.Status.Conditions, v1alpha1.RolloutBreached):
		return exitNo
	case meta.IsStatusConditionTrue(r.Status.Conditions, v1alpha1.RolloutComplete):
		return nil
	}
	return exitUnderWay
}

// isTrue tells whether a condition of the Rollout is True, and its message.
func isTrue(r *v1alpha1.Rollout, condition string) (string, bool) {
	c := meta.FindStatusCondition(r.Status.Conditions, condition)
	if c == nil || c.Status != "True" {
		return "", false
	}
	return c.Message, true
}
