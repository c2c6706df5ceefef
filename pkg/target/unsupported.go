package target

import (
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

// option is one that Fleet has and this version refuses.
type option struct {
	path []string
	text string
	set  func(*fleet.BundleDeploymentOptions) bool
}

// unsupported are refused wherever options stand: in the bundle and in its targets.
var unsupported = []option{
	{[]string{"serviceAccount"}, notYet + "; the agent would deploy with its own rights", func(o *fleet.BundleDeploymentOptions) bool {
		return o.ServiceAccount != ""
	}},
	{[]string{"diff"}, notYet, func(o *fleet.BundleDeploymentOptions) bool {
		return o.Diff != nil && len(o.Diff.ComparePatches) > 0
	}},
	{[]string{"ignore", "conditions"}, notYet, func(o *fleet.BundleDeploymentOptions) bool {
		return o.IgnoreOptions != nil && len(o.IgnoreOptions.Conditions) > 0
	}},
	{[]string{"correctDrift", "enabled"}, notYet, func(o *fleet.BundleDeploymentOptions) bool {
		return o.CorrectDrift != nil && o.CorrectDrift.Enabled
	}},
	{[]string{"deleteNamespace"}, notYet, func(o *fleet.BundleDeploymentOptions) bool { return o.DeleteNamespace }},
	{[]string{"namespaceLabels"}, notYet, func(o *fleet.BundleDeploymentOptions) bool { return len(o.NamespaceLabels) > 0 }},
	{[]string{"namespaceAnnotations"}, notYet, func(o *fleet.BundleDeploymentOptions) bool {
		return len(o.NamespaceAnnotations) > 0
	}},
	{[]string{"downstreamResources"}, notYet, func(o *fleet.BundleDeploymentOptions) bool {
		return len(o.DownstreamResources) > 0
	}},
	{[]string{"overwrites"}, notYet, func(o *fleet.BundleDeploymentOptions) bool { return len(o.Overwrites) > 0 }},
	{[]string{"allowedTargetNamespaceSelector"}, notYet, func(o *fleet.BundleDeploymentOptions) bool {
		return o.AllowedTargetNamespaceSelector != nil
	}},
	helmOption("valuesFrom", notYet, func(h *fleet.HelmOptions) bool { return len(h.ValuesFrom) > 0 }),
	helmOption("timeoutSeconds", notYet+"; a RolloutPolicy's progressDeadline bounds the wait", func(h *fleet.HelmOptions) bool {
		return h.TimeoutSeconds != 0
	}),
	helmOption("atomic", notYet, func(h *fleet.HelmOptions) bool { return h.Atomic }),
	helmOption("waitForJobs", notYet, func(h *fleet.HelmOptions) bool { return h.WaitForJobs }),
}

func helmOption(name, text string, set func(*fleet.HelmOptions) bool) option {
	return option{[]string{"helm", name}, text, func(o *fleet.BundleDeploymentOptions) bool {
		return o.Helm != nil && set(o.Helm)
	}}
}
