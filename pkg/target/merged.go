package target

import (
	"encoding/json"
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

// maxValidated is how many bytes of values are looked through for templates that cannot be
// read, those of the bundle again for each target that changes them. An error in what is
// left is found on the clusters that get it.
const maxValidated = 8 << 20

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
	size, left := sizeOfValues(b.Spec.Helm), maxValidated
	var errs field.ErrorList
	for i := range b.Spec.Targets {
		t := &b.Spec.Targets[i]
		found := own
		if changesValues(t.Helm) {
			if left -= size + sizeOfValues(t.Helm); left < 0 {
				break
			}
			found = templateErrors(merge(b.Spec.BundleDeploymentOptions, optionsOf(t)))
		}
		for _, e := range found {
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

// changesValues tells whether options of a target make the bundle's values other ones.
func changesValues(h *fleet.HelmOptions) bool {
	return h != nil && (h.Values != nil || len(h.TemplateValues) > 0 || h.DisablePreProcess)
}

// sizeOfValues is about how many bytes the values of options have.
func sizeOfValues(h *fleet.HelmOptions) int {
	if h == nil {
		return 0
	}
	// Values that cannot be JSON are an error elsewhere.
	data, _ := json.Marshal(h.Values)
	size := len(data)
	for key, text := range h.TemplateValues {
		size += len(key) + len(text)
	}
	return size
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
		merged := mergeHelm(chartOf(b.Spec.Helm), chartOf(own))
		errs = append(errs, validateChart(merged, b.Spec.Resources, spec.Child("targets").Index(i))...)
	}
	return errs
}

// chartOf is what options say of the chart. They have values too, which are not copied for
// each target.
func chartOf(h *fleet.HelmOptions) *fleet.HelmOptions {
	if h == nil {
		return nil
	}
	return &fleet.HelmOptions{Chart: h.Chart, Repo: h.Repo, Version: h.Version}
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
