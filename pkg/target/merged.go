package target

import (
	"errors"
	"path"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

// fieldError is an error about a field of options, such as helm.values.image.tag.
type fieldError struct {
	field string
	err   error
}

func (e *fieldError) Error() string { return e.field + ": " + e.err.Error() }

func (e *fieldError) Unwrap() error { return e.err }

func wrong(field string, err error) error { return &fieldError{field, err} }

// validateTemplates finds the templates that cannot be read: they would fail on every
// cluster. What counts is what a target's options make of the bundle's.
func validateTemplates(b *fleet.Bundle) field.ErrorList {
	spec := field.NewPath("spec")
	own := templateErrors(b.Spec.BundleDeploymentOptions)
	if len(b.Spec.Targets) == 0 {
		return fieldErrors(own, spec)
	}
	ofBundle := map[string]bool{}
	for _, e := range own {
		ofBundle[e.Error()] = true
	}
	var errs field.ErrorList
	for i := range b.Spec.Targets {
		for _, e := range templateErrors(merge(b.Spec.BundleDeploymentOptions, optionsOf(&b.Spec.Targets[i]))) {
			at := spec.Child("targets").Index(i)
			switch said, is := ofBundle[e.Error()]; {
			case said:
				// Once is enough.
				ofBundle[e.Error()] = false
				at = spec
			case is:
				continue
			}
			errs = append(errs, fieldErrors([]*fieldError{e}, at)...)
		}
	}
	return errs
}

func templateErrors(o fleet.BundleDeploymentOptions) []*fieldError {
	v := compileValues(&o)
	if v == nil || v.err == nil {
		return nil
	}
	list := []error{v.err}
	if joined, ok := v.err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	var out []*fieldError
	for _, err := range list {
		var e *fieldError
		if errors.As(err, &e) {
			out = append(out, e)
		}
	}
	return out
}

func fieldErrors(list []*fieldError, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, e := range list {
		errs = append(errs, &field.Error{
			Type: field.ErrorTypeInvalid, Field: at.String() + "." + e.field, BadValue: field.OmitValueType{}, Detail: e.err.Error(),
		})
	}
	return errs
}

// validateCharts finds charts that the bundle names and does not carry.
func validateCharts(b *fleet.Bundle) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateChart(b.Spec.Helm, b.Spec.Resources, spec)
	for i := range b.Spec.Targets {
		own := b.Spec.Targets[i].Helm
		if own == nil || own.Chart == "" && own.Repo == "" && own.Version == "" {
			continue
		}
		merged := mergeHelm(b.Spec.Helm.DeepCopy(), own.DeepCopy())
		errs = append(errs, validateChart(merged, b.Spec.Resources, spec.Child("targets").Index(i))...)
	}
	return errs
}

const chartFile = "Chart.yaml"

func validateChart(h *fleet.HelmOptions, resources []fleet.BundleResource, at *field.Path) field.ErrorList {
	if h == nil || h.Chart == "" && h.Repo == "" {
		return nil
	}
	fetched := content.ChartDir(h.Chart, h.Repo, h.Version)
	name, inside := "chart", h.Chart
	if inside == "" {
		name, inside = "repo", h.Repo
	}
	inside = strings.TrimPrefix(path.Clean(inside), "/")
	for i := range resources {
		file := resources[i].Name
		if path.Base(file) != chartFile {
			continue
		}
		// An archive has the chart in a directory of its own.
		if dir := path.Dir(file); dir == inside || dir == fetched || path.Dir(dir) == fetched {
			return nil
		}
	}
	at = at.Child("helm", name)
	if h.Repo == "" && !strings.Contains(h.Chart, "://") && !strings.Contains(h.Chart, "::") {
		return field.ErrorList{field.Invalid(at, h.Chart, "spec.resources has no file "+path.Join(inside, chartFile)+
			": carry the chart, or apply the bundle with fleetctl apply, which puts it there")}
	}
	return field.ErrorList{field.Invalid(at, field.OmitValueType{}, "spec.resources does not carry the chart, which belongs below "+fetched+
		": apply the bundle with fleetctl apply, which fetches it")}
}
