package target

import (
	"errors"
	"maps"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"open-cluster-management.io/fleet-addon/pkg/target/template"
)

// located says in which field an error of the values' template is.
func (v *values) located(err error) error {
	var in *template.Error
	if !errors.As(err, &in) {
		return wrong("helm.values", err)
	}
	at := fieldAt(v.source, in.Line)
	// The line is one of the YAML that was made for the template.
	return wrong("helm.values"+at, &template.Error{Expression: in.Expression, Reason: in.Reason})
}

// parseError says which field's template is wrong. Where a template goes over several
// fields none of them is, and the error says no more, as it could quote another field.
func parseError(v *values, err error) error {
	at, own := firstWrong(v.dynamic, "")
	if own != nil {
		return wrong("helm.values"+at, own)
	}
	var in *template.Error
	if errors.As(err, &in) {
		return wrong("helm.values"+fieldAt(v.source, in.Line),
			errors.New("the templates of the values do not make a whole one: each ${ if }, ${ with } and ${ range } needs its ${ end }"))
	}
	return wrong("helm.values", err)
}

// firstWrong finds the first field, in order, with a text that is no template by itself.
func firstWrong(value any, at string) (string, error) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if _, err := parseOwn(key); err != nil {
				return at + "." + key, err
			}
			if where, err := firstWrong(v[key], at+"."+key); err != nil {
				return where, err
			}
		}
	case []any:
		for i := range v {
			if where, err := firstWrong(v[i], at+"["+strconv.Itoa(i)+"]"); err != nil {
				return where, err
			}
		}
	case string:
		_, err := parseOwn(v)
		return at, err
	}
	return "", nil
}

func parseOwn(text string) (*template.Template, error) {
	if !template.Has(text) {
		return nil, nil
	}
	return template.Parse(text)
}

// fieldAt returns the path of the last field that begins at or before a line of YAML.
func fieldAt(source []byte, line int) string {
	var doc yaml.Node
	if line == 0 || yaml.Unmarshal(source, &doc) != nil {
		return ""
	}
	at := ""
	var look func(n *yaml.Node, path string)
	look = func(n *yaml.Node, path string) {
		if n.Line <= line && path != "" {
			at = path
		}
		for i, below := range n.Content {
			switch {
			case n.Kind == yaml.DocumentNode:
				look(below, path)
			case n.Kind == yaml.SequenceNode:
				look(below, path+"["+strconv.Itoa(i)+"]")
			case i%2 == 1:
				look(below, path+"."+n.Content[i-1].Value)
			}
		}
	}
	look(&doc, "")
	return at
}
