package target

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// option is one that Fleet has and this version refuses.
type option struct {
	path []string
	text string
	set  func(*fleet.BundleDeploymentOptions) bool
}

// unsupported are refused wherever options stand: in the bundle and in its targets.
var unsupported = []option{
	{[]string{"yaml", "overlays"}, notYet, func(o *fleet.BundleDeploymentOptions) bool {
		return o.YAML != nil && len(o.YAML.Overlays) > 0
	}},
	{[]string{"kustomize", "dir"}, notYet, func(o *fleet.BundleDeploymentOptions) bool {
		return o.Kustomize != nil && o.Kustomize.Dir != ""
	}},
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
	helmOption("repo", notYet+"; carry the chart in spec.resources", func(h *fleet.HelmOptions) bool { return h.Repo != "" }),
	helmOption("valuesFiles", notYet+"; write the values in helm.values", func(h *fleet.HelmOptions) bool {
		return len(h.ValuesFiles) > 0
	}),
	helmOption("templateValues", notYet, func(h *fleet.HelmOptions) bool { return len(h.TemplateValues) > 0 }),
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

// validateValues refuses values that Fleet would template for each cluster.
func validateValues(value any, raw bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if !raw && strings.Contains(key, "${") {
				errs = append(errs, templatedError(at.Key(key)))
			}
			errs = append(errs, validateValues(v[key], raw, at.Key(key))...)
		}
	case []any:
		for i := range v {
			errs = append(errs, validateValues(v[i], raw, at.Index(i))...)
		}
	case string:
		switch {
		case strings.HasPrefix(v, clusterLabelPrefix):
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("values from cluster labels (%s) are %s", clusterLabelPrefix, notYet)))
		case !raw && strings.Contains(v, "${"):
			errs = append(errs, templatedError(at))
		}
	}
	return errs
}

func templatedError(at *field.Path) *field.Error {
	return field.Forbidden(at, "templates (${ }) in values are "+notYet+"; set helm.disablePreProcess to take them literally")
}
