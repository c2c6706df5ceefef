package target

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/target/template"
)

// clusterLabelPrefix marks values that stand for a cluster's label.
const clusterLabelPrefix = "global.fleet.clusterLabels."

// maxLabelDepth is how deep values can nest where some of them stand for labels.
const maxLabelDepth = 50

// values are Helm values that are not the same on every cluster, ready to be filled in.
type values struct {
	// static are the keys at the top that are the same everywhere.
	static map[string]any
	// dynamic are the other ones; text is what they are as a template, nil if they are
	// none and only have labels in them.
	dynamic map[string]any
	text    *template.Template
	// source is the YAML that text was read from: it tells where an error is.
	source []byte
	// references are the labels that values stand for, in the order in which text has them.
	references []string
	// keyed are templateValues.
	keyed map[string]*template.Template
	needs Uses
	// err is an error on every cluster.
	err error
}

// compileValues returns nil for options that are the same on every cluster.
func compileValues(o *fleet.BundleDeploymentOptions) *values {
	if o.Helm == nil {
		return nil
	}
	c := &compiler{raw: o.Helm.DisablePreProcess}
	v := &values{static: map[string]any{}, dynamic: map[string]any{}}
	if o.Helm.Values != nil {
		for key, value := range o.Helm.Values.Data {
			if !c.raw && template.Has(key) || c.dynamic(value, 1) {
				v.dynamic[key] = value
			} else {
				v.static[key] = value
			}
		}
	}
	if len(v.dynamic) == 0 && (c.raw || len(o.Helm.TemplateValues) == 0) {
		return nil
	}
	if v.err = errors.Join(append(v.compileKeyed(o.Helm), c.compile(v))...); v.err != nil {
		// Nobody knows what it would look at.
		v.needs = everythingOf()
	}
	return v
}

func (v *values) uses() Uses {
	if v == nil {
		return Uses{}
	}
	return v.needs
}

// compiler reads one set of values.
type compiler struct {
	// raw is true with disablePreProcess: templates are taken literally.
	raw bool
	// templated is true once a template was found, tooDeep a label far below.
	templated, tooDeep bool
	references         []string
}

// dynamic tells whether something is not the same on every cluster.
func (c *compiler) dynamic(value any, depth int) bool {
	found := false
	switch v := value.(type) {
	case map[string]any:
		for key, below := range v {
			if !c.raw && template.Has(key) {
				found, c.templated = true, true
			}
			found = c.dynamic(below, depth+1) || found
		}
	case []any:
		for _, below := range v {
			found = c.dynamic(below, depth+1) || found
		}
	case string:
		if !c.raw && template.Has(v) {
			found, c.templated = true, true
		}
		if strings.HasPrefix(v, clusterLabelPrefix) {
			found = true
			c.tooDeep = c.tooDeep || depth > maxLabelDepth
		}
	}
	return found
}

// compile makes a template of the values: of those that are not static, unless a template
// begins in one of them and ends in another.
func (c *compiler) compile(v *values) error {
	if c.tooDeep {
		return wrong("helm.values", fmt.Errorf("a value that stands for a label (%s) nests deeper than %d", clusterLabelPrefix, maxLabelDepth))
	}
	for key := range v.dynamic {
		c.templated = c.templated || !c.raw && template.Has(key)
	}
	if !c.templated {
		c.mark(v.dynamic)
		v.reference(c.references)
		return nil
	}
	if !c.alone(v.dynamic) {
		maps.Copy(v.dynamic, v.static)
		v.static = map[string]any{}
	}
	source, err := yaml.Marshal(c.mark(v.dynamic))
	if err != nil {
		return wrong("helm.values", err)
	}
	v.source = source
	v.reference(c.references)
	if v.text, err = template.Parse(string(source)); err != nil {
		return parseError(v, err)
	}
	v.needs.join(usesOfTemplate(v.text))
	if _, err := firstWrong(v.dynamic, ""); err != nil {
		// A template goes over several texts. Where other options stand between them it can
		// be another one, and look at what is in a comment here.
		v.needs = everythingOf()
	}
	return nil
}

// alone tells whether what stands below each key is a whole template.
func (c *compiler) alone(data map[string]any) bool {
	for key, value := range data {
		text, err := yaml.Marshal(map[string]any{key: value})
		if err != nil {
			return false
		}
		if _, err := template.Parse(string(text)); err != nil || trims(value) {
			return false
		}
	}
	return true
}

// trims tells whether a template eats the end of its line, and so what comes after it.
func trims(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, below := range v {
			if trims(below) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, trims)
	case string:
		return strings.HasSuffix(strings.TrimSpace(v), "-}")
	}
	return false
}

func (v *values) reference(labels []string) {
	v.references = labels
	for _, label := range labels {
		v.needs.Labels.add(label)
	}
}

// labelList is what templates know the labels as that values stand for.
const labelList = "fleetLabels"

// mark puts a template for the label where a value stands for one, in a copy, keys in
// order. It writes JSON, so that the label stays a text in YAML.
func (c *compiler) mark(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out[key] = c.mark(v[key])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = c.mark(v[i])
		}
		return out
	case string:
		if label, ok := strings.CutPrefix(v, clusterLabelPrefix); ok {
			c.references = append(c.references, label)
			return "${ index $." + labelList + " " + strconv.Itoa(len(c.references)-1) + " | toJson }"
		}
	}
	return value
}
