// Package standin plays the cluster of a ManifestWork: it writes what OCM's work agent and the add-on's agent would
// report. Tests use it where a cluster of their own would prove nothing more.
package standin

import (
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// Deployment is the BundleDeployment in a work; nil if there is none.
func Deployment(w *workv1.ManifestWork) *v1alpha1.BundleDeployment {
	for _, m := range w.Spec.Workload.Manifests {
		bd := &v1alpha1.BundleDeployment{}
		if json.Unmarshal(m.Raw, bd) == nil && bd.Kind == "BundleDeployment" {
			return bd
		}
	}
	return nil
}

// MinSuccessTime that a work asks the agent for.
func MinSuccessTime(bd *v1alpha1.BundleDeployment) time.Duration {
	if bd.Spec.MinSuccessTime == nil {
		return 0
	}
	return bd.Spec.MinSuccessTime.Duration
}

// Ready is the verdict of an agent whose release has been ready since a time, and soaked if that is long enough by now.
func Ready(bd *v1alpha1.BundleDeployment, since, now time.Time) rollout.Verdict {
	v := rollout.Verdict{Admission: bd.Spec.Admission, Applied: true, Ready: true, State: "Ready", ReadySince: since.UTC().Format(time.RFC3339Nano)}
	// A little late, as the agent is on purpose.
	if minimum := MinSuccessTime(bd); now.Sub(since) > minimum+200*time.Millisecond {
		v.Soaked, v.SoakedKnown = minimum, true
	}
	return v
}

// NotReady is the verdict of an agent that has deployed and waits.
func NotReady(bd *v1alpha1.BundleDeployment) rollout.Verdict {
	return rollout.Verdict{Admission: bd.Spec.Admission, Applied: true, State: "NotReady"}
}

// Report writes into the status of a work that it is applied, and what the agent says of its BundleDeployment.
func Report(w *workv1.ManifestWork, bd *v1alpha1.BundleDeployment, v rollout.Verdict) {
	Applied(w, metav1.ConditionTrue, "")
	soaked := ""
	if v.SoakedKnown {
		soaked = v.Soaked.String()
	}
	w.Status.ResourceStatus.Manifests = []workv1.ManifestCondition{{
		ResourceMeta: workv1.ManifestResourceMeta{
			Group: v1alpha1.GroupName, Version: "v1alpha1", Kind: "BundleDeployment", Resource: "bundledeployments",
			Name: bd.Name, Namespace: bd.Namespace,
		},
		Conditions: []metav1.Condition{},
		StatusFeedbacks: workv1.StatusFeedbackResult{Values: []workv1.FeedbackValue{
			text("admission", v.Admission), truth("applied", v.Applied), truth("ready", v.Ready),
			text("readySince", v.ReadySince), text("soaked", soaked), truth("terminal", v.Terminal),
			truth("waitingForDependency", v.Waiting), text("state", v.State), text("message", v.Message),
		}},
	}}
}

// Applied writes what the work agent says of the whole work.
func Applied(w *workv1.ManifestWork, status metav1.ConditionStatus, message string) {
	c := metav1.Condition{Type: workv1.WorkApplied, Status: status, Reason: "AppliedManifestWorkComplete", Message: message,
		ObservedGeneration: w.Generation}
	if status != metav1.ConditionTrue {
		c.Reason = "AppliedManifestWorkFailed"
	}
	meta.SetStatusCondition(&w.Status.Conditions, c)
}

func text(name, value string) workv1.FeedbackValue {
	return workv1.FeedbackValue{Name: name, Value: workv1.FieldValue{Type: workv1.String, String: &value}}
}

func truth(name string, value bool) workv1.FeedbackValue {
	return workv1.FeedbackValue{Name: name, Value: workv1.FieldValue{Type: workv1.Boolean, Boolean: &value}}
}
