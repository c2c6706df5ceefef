package hub

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// Reasons of the conditions on the ManagedClusterAddOn.
const (
	ReasonAllReady      = "AllReady"
	ReasonNotReady      = "BundlesNotReady"
	ReasonNoFailure     = "NoBundleFailed"
	ReasonFailed        = "BundlesFailed"
	ReasonDrained       = "Drained"
	ReasonBundlesRemain = "BundlesRemain"
)

// maxNames is how many bundles a message names.
const maxNames = 5

// Left is what keeps an add-on from going.
type Left struct {
	Bundles, Releases int
}

// Conditions returns the conditions that the agent owns: BundlesReady and
// Degraded, and Drained once left is known. Times of those that keep their
// status are taken from before. A status for an earlier admission counts as not
// ready.
func Conditions(bundles []v1alpha1.BundleDeployment, left *Left, before []metav1.Condition, now time.Time) []metav1.Condition {
	var notReady, failed []string
	for _, b := range bundles {
		if b.Status.Admission != b.Spec.Admission || !b.Status.Ready {
			notReady = append(notReady, b.Spec.Bundle)
		}
		if b.Status.Admission == b.Spec.Admission && b.Status.Terminal {
			failed = append(failed, b.Spec.Bundle)
		}
	}
	out := []metav1.Condition{
		{
			Type: v1alpha1.AddOnBundlesReady, Status: metav1.ConditionTrue, Reason: ReasonAllReady,
			Message: fmt.Sprintf("%d of %d bundles are ready", len(bundles)-len(notReady), len(bundles)),
		},
		{
			Type: v1alpha1.AddOnDegraded, Status: metav1.ConditionFalse, Reason: ReasonNoFailure,
			Message: "no bundle failed",
		},
	}
	if len(notReady) > 0 {
		out[0].Status, out[0].Reason = metav1.ConditionFalse, ReasonNotReady
		out[0].Message += "; not ready: " + first(notReady)
	}
	if len(failed) > 0 {
		out[1].Status, out[1].Reason = metav1.ConditionTrue, ReasonFailed
		out[1].Message = fmt.Sprintf("%d of %d bundles failed: %s", len(failed), len(bundles), first(failed))
	}
	if left != nil {
		out = append(out, drained(*left))
	}
	for i := range out {
		out[i].LastTransitionTime = metav1.NewTime(now)
		if old := meta.FindStatusCondition(before, out[i].Type); old != nil && old.Status == out[i].Status {
			out[i].LastTransitionTime = old.LastTransitionTime
		}
	}
	return out
}

func drained(left Left) metav1.Condition {
	c := metav1.Condition{
		Type: v1alpha1.AddOnDrained, Status: metav1.ConditionTrue, Reason: ReasonDrained,
		Message: "no bundle and no release of a bundle is left",
	}
	if left != (Left{}) {
		c.Status, c.Reason = metav1.ConditionFalse, ReasonBundlesRemain
		c.Message = fmt.Sprintf("%d BundleDeployments and %d Helm releases are left", left.Bundles, left.Releases)
	}
	return c
}

func first(names []string) string {
	sort.Strings(names)
	if len(names) <= maxNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), len(names)-maxNames)
}

// same tells whether all wanted conditions are there already.
func same(want, have []metav1.Condition) bool {
	for _, w := range want {
		h := meta.FindStatusCondition(have, w.Type)
		if h == nil || h.Status != w.Status || h.Reason != w.Reason || h.Message != w.Message {
			return false
		}
	}
	return true
}

func drainChanged(want, have []metav1.Condition) bool {
	w := meta.FindStatusCondition(want, v1alpha1.AddOnDrained)
	return w != nil && !same([]metav1.Condition{*w}, have)
}
