package target

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/target/template"
)

// The names that templates know of a cluster.
const (
	nameOfCluster     = "ClusterName"
	nameOfNamespace   = "ClusterNamespace"
	nameOfLabels      = "ClusterLabels"
	nameOfAnnotations = "ClusterAnnotations"
	nameOfValues      = "ClusterValues"
	nameOfClaims      = "ClusterClaims"
)

// context makes what a template is given. It is the template's own where that changes it.
func (v *values) context(namespace string, c *Cluster, t *template.Template) map[string]any {
	values := c.Values
	if t.Changes() {
		values = (&fleet.GenericMap{Data: c.Values}).DeepCopy().Data
	}
	if values == nil {
		values = map[string]any{}
	}
	labels := make([]any, len(v.references))
	for i, label := range v.references {
		labels[i] = c.Labels[label]
	}
	return map[string]any{
		nameOfNamespace:   namespace,
		nameOfCluster:     c.Name,
		nameOfLabels:      dict(c.Labels, v.needs.Labels),
		nameOfAnnotations: dict(c.Annotations, v.needs.Annotations),
		nameOfClaims:      dict(c.Claims, v.needs.Claims),
		nameOfValues:      values,
		labelList:         labels,
	}
}

// dict holds what can be looked at, in the type that the functions for dicts take.
func dict(from map[string]string, keys Keys) map[string]any {
	out := map[string]any{}
	if keys.None() {
		return out
	}
	for key, value := range from {
		out[key] = value
	}
	return out
}

// usesOfTemplate says what of a cluster a template looks at.
func usesOfTemplate(t *template.Template) Uses {
	from := t.Uses()
	if from.Everything {
		return everythingOf()
	}
	var u Uses
	keys := map[string]*Keys{
		nameOfLabels: &u.Labels, nameOfAnnotations: &u.Annotations, nameOfClaims: &u.Claims, nameOfValues: &u.Values,
	}
	for _, path := range from.Paths {
		switch k := keys[path[0]]; {
		case path[0] == nameOfCluster:
			u.Name = true
		case k == nil:
		case path[1] == "":
			k.Any = true
		default:
			k.add(path[1])
		}
	}
	return u
}

// labelled fills in the labels where there is no template.
func (v *values) labelled(c *Cluster) map[string]any {
	if len(v.references) == 0 || v.text != nil {
		return v.static
	}
	out := maps.Clone(v.static)
	for key, value := range v.dynamic {
		out[key] = withLabels(value, c)
	}
	return out
}

// withLabels copies a value with the labels that parts of it stand for; a label that is
// not there is an empty text.
func withLabels(value any, c *Cluster) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, below := range v {
			out[key] = withLabels(below, c)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withLabels(v[i], c)
		}
		return out
	case string:
		if label, ok := strings.CutPrefix(v, clusterLabelPrefix); ok {
			return c.Labels[label]
		}
	}
	return value
}

// fill executes the template of the values.
func (v *values) fill(namespace string, c *Cluster) (map[string]any, error) {
	text, err := v.text.Execute(v.context(namespace, c, v.text))
	if err != nil {
		return nil, v.located(err)
	}
	value, err := template.Decode(text, template.MaxOutput)
	if err != nil {
		return nil, wrong("helm.values", fmt.Errorf("what the templates give is %w", err))
	}
	switch data := value.(type) {
	case map[string]any:
		return data, nil
	case nil:
		return map[string]any{}, nil
	default:
		return nil, wrong("helm.values", errors.New("what the templates give is no map"))
	}
}

// fillKey executes a template of templateValues.
func (v *values) fillKey(namespace, key string, c *Cluster) (any, error) {
	t := v.keyed[key]
	text, err := t.Execute(v.context(namespace, c, t))
	if err != nil {
		return nil, wrong("helm.templateValues["+key+"]", err)
	}
	value, err := template.Decode(text, template.MaxOutput)
	if err != nil {
		return nil, wrong("helm.templateValues["+key+"]", fmt.Errorf("what the template gives is %w", err))
	}
	return value, nil
}

// compileKeyed reads the templates of templateValues; disablePreProcess leaves them out.
func (v *values) compileKeyed(h *fleet.HelmOptions) []error {
	if h.DisablePreProcess {
		return nil
	}
	v.keyed = make(map[string]*template.Template, len(h.TemplateValues))
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(h.TemplateValues)) {
		t, err := template.Parse(h.TemplateValues[key])
		if err != nil {
			errs = append(errs, wrong("helm.templateValues["+key+"]", err))
			continue
		}
		v.keyed[key] = t
		v.needs.join(usesOfTemplate(t))
	}
	return errs
}
