package revision

import (
	"encoding/json"
	"errors"
	"strconv"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

// values are what of a bundle can be secret, beside the options that they were taken
// from.
type values struct {
	Bundle *helmValues `json:"bundle,omitempty"`
	// Targets by their place in spec.targets.
	Targets map[string]*helmValues `json:"targets,omitempty"`
}

// helmValues are what of HelmOptions holds values: in the chart's own form, and as
// templates of them.
type helmValues struct {
	Values    *fleet.GenericMap `json:"values,omitempty"`
	Templates map[string]string `json:"templateValues,omitempty"`
}

// errValues stands for the library's error, which can show a value.
var errValues = errors.New("values for Helm cannot be written as JSON")

// takeValues takes all values out of a spec that is the caller's own, and returns them
// as JSON; nil if there are none.
func takeValues(spec *fleet.BundleSpec) ([]byte, error) {
	v := values{Bundle: take(spec.Helm)}
	for i := range spec.Targets {
		if taken := take(spec.Targets[i].Helm); taken != nil {
			if v.Targets == nil {
				v.Targets = map[string]*helmValues{}
			}
			v.Targets[strconv.Itoa(i)] = taken
		}
	}
	if v.Bundle == nil && v.Targets == nil {
		return nil, nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, errValues
	}
	return data, nil
}

func take(h *fleet.HelmOptions) *helmValues {
	if h == nil || h.Values == nil && h.TemplateValues == nil {
		return nil
	}
	taken := &helmValues{Values: h.Values, Templates: h.TemplateValues}
	h.Values, h.TemplateValues = nil, nil
	return taken
}

// putValues puts back what takeValues has taken.
func putValues(spec *fleet.BundleSpec, data []byte) error {
	var v values
	if err := json.Unmarshal(data, &v); err != nil {
		return errors.New("its values are not the JSON that was written")
	}
	if !v.Bundle.into(spec.Helm) {
		return errors.New("its values are not those of its options")
	}
	for key, taken := range v.Targets {
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(spec.Targets) || !taken.into(spec.Targets[i].Helm) {
			return errors.New("its values are not those of its targets")
		}
	}
	return nil
}

func (v *helmValues) into(h *fleet.HelmOptions) bool {
	if v == nil {
		return true
	}
	if h == nil {
		return false
	}
	h.Values, h.TemplateValues = v.Values, v.Templates
	return true
}
