package release

import (
	"slices"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/agent/fault"
	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// defaultHistory is how many revisions are kept where the options say nothing.
const defaultHistory = 5

// Want is the release that a BundleDeployment asks for.
type Want struct {
	Owner        Owner
	Key          Key
	Bundle       string
	DeploymentID string
	Content      string
	Keep         bool
	Options      fleet.BundleDeploymentOptions
	// Stale are releases of the same owner in other places: the name or the
	// namespace has changed since.
	Stale []Key
	// adopted is true once a release of an agent in another namespace may be taken.
	adopted bool
}

// WantOf returns what a BundleDeployment asks for. It is a terminal error that
// names the field if it asks for something that this agent cannot do.
func WantOf(bd *v1alpha1.BundleDeployment) (Want, error) {
	o := bd.Spec.Options
	want := Want{
		Owner:        Owner{Namespace: bd.Namespace, Name: bd.Name},
		Key:          KeyOf(bd.Spec.Bundle, o),
		Bundle:       bd.Spec.Bundle,
		DeploymentID: bd.Spec.DeploymentID,
		Content:      bd.Spec.Content.Name,
		Keep:         o.KeepResources,
		Options:      o,
	}
	if o.Helm == nil {
		want.Options.Helm = &fleet.HelmOptions{}
	}
	var fields []string
	for _, u := range unsupported {
		if u.set(want.Options) {
			fields = append(fields, u.field)
		}
	}
	if len(fields) > 0 {
		slices.Sort(fields)
		return want, fault.Terminalf("spec.options: %s not supported by this version of the agent; remove it from the bundle", strings.Join(fields, ", "))
	}
	return want, nil
}

// unsupported options change what would be deployed, or with whose rights; to
// deploy without them would be something else than what was asked for.
var unsupported = []struct {
	field string
	set   func(fleet.BundleDeploymentOptions) bool
}{
	{"helm.valuesFrom", func(o fleet.BundleDeploymentOptions) bool { return len(o.Helm.ValuesFrom) > 0 }},
	// Both make Helm wait, which would hold a worker.
	{"helm.atomic", func(o fleet.BundleDeploymentOptions) bool { return o.Helm.Atomic }},
	{"helm.waitForJobs", func(o fleet.BundleDeploymentOptions) bool { return o.Helm.WaitForJobs }},
	{"serviceAccount", func(o fleet.BundleDeploymentOptions) bool { return o.ServiceAccount != "" }},
	{"namespaceLabels", func(o fleet.BundleDeploymentOptions) bool { return len(o.NamespaceLabels) > 0 }},
	{"namespaceAnnotations", func(o fleet.BundleDeploymentOptions) bool { return len(o.NamespaceAnnotations) > 0 }},
	{"downstreamResources", func(o fleet.BundleDeploymentOptions) bool { return len(o.DownstreamResources) > 0 }},
	{"allowedTargetNamespaceSelector", func(o fleet.BundleDeploymentOptions) bool { return o.AllowedTargetNamespaceSelector != nil }},
}

func (w Want) history() int {
	if w.Options.Helm.MaxHistory > 0 {
		return w.Options.Helm.MaxHistory
	}
	return defaultHistory
}
