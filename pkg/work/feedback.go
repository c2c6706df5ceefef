package work

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// resource is the plural of BundleDeployment.
const resource = "bundledeployments"

// The names of the feedback values; each is the field of the same name in
// BundleDeployment.status.
const (
	valueAdmission  = "admission"
	valueApplied    = "applied"
	valueReady      = "ready"
	valueReadySince = "readySince"
	valueSoaked     = "soaked"
	valueTerminal   = "terminal"
	valueWaiting    = "waitingForDependency"
	valueState      = "state"
	valueMessage    = "message"
)

var values = []string{valueAdmission, valueApplied, valueReady, valueReadySince, valueSoaked, valueTerminal,
	valueWaiting, valueState, valueMessage}

// feedback asks for the agent's verdict. Watch brings it in milliseconds, where
// the default polls every minute; all BundleDeployments of a cluster stand in one
// namespace and so cost one of the work agent's 50 watches.
//
// The update strategy stays the default, Update: the manager owns the whole spec
// and the agent only the status, a subresource that Update does not touch. It
// replaces the spec, so that a field that the hub does not set any more, or that
// somebody added on the cluster, goes; server-side apply would leave the latter,
// and would send a patch at every resync where Update compares first.
func (d Deployment) feedback() workv1.ManifestConfigOption {
	paths := make([]workv1.JsonPath, 0, len(values))
	for _, name := range values {
		paths = append(paths, workv1.JsonPath{Name: name, Path: ".status." + name})
	}
	return workv1.ManifestConfigOption{
		ResourceIdentifier: workv1.ResourceIdentifier{
			Group: v1alpha1.GroupName, Resource: resource, Namespace: d.AgentNamespace, Name: Name(d.Bundle),
		},
		FeedbackRules:      []workv1.FeedbackRule{{Type: workv1.JSONPathsType, JsonPaths: paths}},
		FeedbackScrapeType: workv1.FeedbackWatchType,
	}
}

// AgentNamespace is where the BundleDeployment of a work is on the cluster; "" while
// the work agent has not said so.
func AgentNamespace(w *workv1.ManifestWork) string {
	for i := range w.Status.ResourceStatus.Manifests {
		if m := &w.Status.ResourceStatus.Manifests[i].ResourceMeta; isDeployment(m, w) {
			return m.Namespace
		}
	}
	return ""
}

func isDeployment(m *workv1.ManifestResourceMeta, w *workv1.ManifestWork) bool {
	return m.Group == v1alpha1.GroupName && m.Resource == resource && m.Name == w.Name
}

// verdict reads the feedback of a work. The agent always writes its booleans: as
// long as one is missing nothing is known, and the zero value says so.
func verdict(w *workv1.ManifestWork) rollout.Verdict {
	texts, flags := map[string]string{}, map[string]bool{}
	for i := range w.Status.ResourceStatus.Manifests {
		m := &w.Status.ResourceStatus.Manifests[i]
		if !isDeployment(&m.ResourceMeta, w) {
			continue
		}
		for _, v := range m.StatusFeedbacks.Values {
			if v.Value.String != nil {
				texts[v.Name] = *v.Value.String
			}
			if v.Value.Boolean != nil {
				flags[v.Name] = *v.Value.Boolean
			}
		}
	}
	for _, name := range []string{valueApplied, valueReady, valueTerminal, valueWaiting} {
		if _, known := flags[name]; !known {
			return rollout.Verdict{}
		}
	}
	if texts[valueAdmission] == "" {
		return rollout.Verdict{}
	}
	v := rollout.Verdict{
		Admission:  texts[valueAdmission],
		Applied:    flags[valueApplied],
		Ready:      flags[valueReady],
		ReadySince: texts[valueReadySince],
		Terminal:   flags[valueTerminal],
		Waiting:    flags[valueWaiting],
		State:      texts[valueState],
		Message:    texts[valueMessage],
	}
	if soaked, err := time.ParseDuration(texts[valueSoaked]); err == nil {
		v.Soaked, v.SoakedKnown = soaked, true
	}
	return v
}

// maxMessage is the most that is kept of what a work agent says, as in
// BundleDeployment.status.
const maxMessage = 1024

// refused is why the work agent could not apply the work as it is now; "" if it
// could, or did not try yet.
func refused(w *workv1.ManifestWork) string {
	general := ""
	for _, c := range w.Status.Conditions {
		if c.Type != workv1.WorkApplied {
			continue
		}
		if c.Status != metav1.ConditionFalse || c.ObservedGeneration != w.Generation {
			return ""
		}
		general = c.Message
		if general == "" {
			general = c.Reason
		}
	}
	if general == "" {
		return ""
	}
	// The condition of the work only counts; those of its manifests say why.
	var reasons []string
	for _, m := range w.Status.ResourceStatus.Manifests {
		for _, c := range m.Conditions {
			if c.Type == workv1.ManifestApplied && c.Status == metav1.ConditionFalse && c.Message != "" {
				reasons = append(reasons, m.ResourceMeta.Kind+" "+m.ResourceMeta.Name+": "+c.Message)
			}
		}
	}
	if len(reasons) > 0 {
		general = strings.Join(reasons, "; ")
	}
	if len(general) > maxMessage {
		general = strings.ToValidUTF8(general[:maxMessage], "")
	}
	return general
}
