package target

import (
	"cmp"
	"maps"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

// optionsOf returns a target's options. Its namespaceLabels and
// namespaceAnnotations have the same JSON keys as those of the options that it
// embeds, and take their place when it is read.
func optionsOf(t *fleet.BundleTarget) fleet.BundleDeploymentOptions {
	o := *t.BundleDeploymentOptions.DeepCopy()
	o.NamespaceLabels = mergeMap(o.NamespaceLabels, t.NamespaceLabels)
	o.NamespaceAnnotations = mergeMap(o.NamespaceAnnotations, t.NamespaceAnnotations)
	return o
}

// merge puts custom over base and shares nothing with either. Every option
// merges: what is set in custom wins, switches are on if either is, maps and
// keyed lists merge by key, Helm values deeply with their lists replaced.
func merge(base, custom fleet.BundleDeploymentOptions) fleet.BundleDeploymentOptions {
	out, c := *base.DeepCopy(), custom.DeepCopy()
	out.YAML = mergeYAML(out.YAML, c.YAML)
	out.Kustomize = mergeKustomize(out.Kustomize, c.Kustomize)
	out.DefaultNamespace = cmp.Or(c.DefaultNamespace, out.DefaultNamespace)
	out.TargetNamespace = cmp.Or(c.TargetNamespace, out.TargetNamespace)
	out.Helm = mergeHelm(out.Helm, c.Helm)
	out.ServiceAccount = cmp.Or(c.ServiceAccount, out.ServiceAccount)
	if c.ForceSyncGeneration > 0 {
		out.ForceSyncGeneration = c.ForceSyncGeneration
	}
	out.Diff = mergeDiff(out.Diff, c.Diff)
	out.KeepResources = out.KeepResources || c.KeepResources
	out.DeleteNamespace = out.DeleteNamespace || c.DeleteNamespace
	out.IgnoreOptions = mergeIgnore(out.IgnoreOptions, c.IgnoreOptions)
	if c.CorrectDrift != nil {
		out.CorrectDrift = c.CorrectDrift
	}
	out.NamespaceLabels = mergeMap(out.NamespaceLabels, c.NamespaceLabels)
	out.NamespaceAnnotations = mergeMap(out.NamespaceAnnotations, c.NamespaceAnnotations)
	out.DeleteCRDResources = out.DeleteCRDResources || c.DeleteCRDResources
	out.DownstreamResources = mergeList(out.DownstreamResources, c.DownstreamResources,
		func(r fleet.DownstreamResource) fleet.DownstreamResource {
			return fleet.DownstreamResource{Kind: strings.ToLower(r.Kind), Name: r.Name}
		})
	out.Overwrites = mergeList(out.Overwrites, c.Overwrites,
		func(r fleet.OverwrittenResource) fleet.OverwrittenResource { return r })
	// A limit that somebody set for the whole bundle; a target cannot loosen it.
	if out.AllowedTargetNamespaceSelector == nil {
		out.AllowedTargetNamespaceSelector = c.AllowedTargetNamespaceSelector
	}
	return out
}

func mergeHelm(base, custom *fleet.HelmOptions) *fleet.HelmOptions {
	if base == nil || custom == nil {
		return cmp.Or(custom, base)
	}
	out := *base
	out.ValuesFiles = append(out.ValuesFiles, custom.ValuesFiles...)
	out.Chart = cmp.Or(custom.Chart, base.Chart)
	out.Repo = cmp.Or(custom.Repo, base.Repo)
	out.ReleaseName = cmp.Or(custom.ReleaseName, base.ReleaseName)
	out.Version = cmp.Or(custom.Version, base.Version)
	// A negative timeout takes the bundle's away.
	out.TimeoutSeconds = max(0, cmp.Or(custom.TimeoutSeconds, base.TimeoutSeconds))
	out.Values = mergeValues(base.Values, custom.Values)
	out.TemplateValues = mergeMap(base.TemplateValues, custom.TemplateValues)
	out.ValuesFrom = mergeList(base.ValuesFrom, custom.ValuesFrom, valuesFromKey)
	out.Force = base.Force || custom.Force
	out.TakeOwnership = base.TakeOwnership || custom.TakeOwnership
	out.MaxHistory = cmp.Or(custom.MaxHistory, base.MaxHistory)
	out.WaitForJobs = base.WaitForJobs || custom.WaitForJobs
	out.Atomic = base.Atomic || custom.Atomic
	out.DisablePreProcess = base.DisablePreProcess || custom.DisablePreProcess
	out.DisableDNS = base.DisableDNS || custom.DisableDNS
	out.SkipSchemaValidation = base.SkipSchemaValidation || custom.SkipSchemaValidation
	out.DisableDependencyUpdate = base.DisableDependencyUpdate || custom.DisableDependencyUpdate
	return &out
}

func mergeValues(base, custom *fleet.GenericMap) *fleet.GenericMap {
	if base == nil || custom == nil {
		return cmp.Or(custom, base)
	}
	mergeTree(base.Data, custom.Data)
	return base
}

// mergeTree changes base. A null in custom stays: Helm takes it as "remove the
// chart's default".
func mergeTree(base, custom map[string]any) {
	for key, value := range custom {
		below, isMap := value.(map[string]any)
		into, wasMap := base[key].(map[string]any)
		if isMap && wasMap {
			mergeTree(into, below)
		} else {
			base[key] = value
		}
	}
}

// valuesFromKey is what an entry refers to; of two references the ConfigMap, as in Fleet.
func valuesFromKey(v fleet.ValuesFrom) [4]string {
	switch {
	case v.ConfigMapKeyRef != nil:
		r := v.ConfigMapKeyRef
		return [4]string{"ConfigMap", r.Namespace, r.Name, r.Key}
	case v.SecretKeyRef != nil:
		r := v.SecretKeyRef
		return [4]string{"Secret", r.Namespace, r.Name, r.Key}
	default:
		return [4]string{}
	}
}

func mergeYAML(base, custom *fleet.YAMLOptions) *fleet.YAMLOptions {
	if base == nil || custom == nil {
		return cmp.Or(custom, base)
	}
	return &fleet.YAMLOptions{Overlays: append(base.Overlays, custom.Overlays...)}
}

func mergeKustomize(base, custom *fleet.KustomizeOptions) *fleet.KustomizeOptions {
	if base == nil || custom == nil {
		return cmp.Or(custom, base)
	}
	return &fleet.KustomizeOptions{Dir: cmp.Or(custom.Dir, base.Dir)}
}

func mergeDiff(base, custom *fleet.DiffOptions) *fleet.DiffOptions {
	if base == nil || custom == nil {
		return cmp.Or(custom, base)
	}
	type key struct{ apiVersion, kind, namespace, name string }
	return &fleet.DiffOptions{ComparePatches: mergeList(base.ComparePatches, custom.ComparePatches,
		func(p fleet.ComparePatch) key { return key{p.APIVersion, p.Kind, p.Namespace, p.Name} })}
}

func mergeIgnore(base, custom *fleet.IgnoreOptions) *fleet.IgnoreOptions {
	if base == nil || custom == nil {
		return cmp.Or(custom, base)
	}
	return &fleet.IgnoreOptions{Conditions: append(base.Conditions, custom.Conditions...)}
}

func mergeMap(base, custom map[string]string) map[string]string {
	if len(custom) == 0 {
		return base
	}
	out := make(map[string]string, len(base)+len(custom))
	maps.Copy(out, base)
	maps.Copy(out, custom)
	return out
}

// mergeList replaces the entries of base that have a key of custom's, and appends the others.
func mergeList[T any, K comparable](base, custom []T, key func(T) K) []T {
	at := make(map[K]int, len(base))
	for i, entry := range base {
		at[key(entry)] = i
	}
	for _, entry := range custom {
		if i, ok := at[key(entry)]; ok {
			base[i] = entry
		} else {
			at[key(entry)] = len(base)
			base = append(base, entry)
		}
	}
	return base
}
