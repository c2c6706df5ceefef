package template

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// ErrYAML is wrapped by every error of Decode. It quotes nothing of the text.
var ErrYAML = errors.New("no valid YAML")

// Decode reads YAML that somebody else can have written, as values: aliases cannot make
// more of it than limit bytes, and it nests no deeper than MaxDepth.
func Decode(data []byte, limit int) (any, error) {
	if bytes.ContainsAny(data, "&") && bytes.ContainsAny(data, "*") {
		var doc yaml.Node
		if err := yaml.Unmarshal(data, &doc); err != nil {
			return nil, yamlError(err)
		}
		if expanded(&doc, limit, 0) > limit {
			return nil, fmt.Errorf("%w: its aliases make more than %d bytes of it", ErrYAML, limit)
		}
	}
	var out any
	if err := sigsyaml.Unmarshal(data, &out); err != nil {
		return nil, yamlError(err)
	}
	if deeper(out, MaxDepth) {
		return nil, fmt.Errorf("%w: it nests deeper than %d", ErrYAML, MaxDepth)
	}
	return out, nil
}

var yamlLine = regexp.MustCompile(`line \d+`)

func yamlError(err error) error {
	if line := yamlLine.FindString(err.Error()); line != "" {
		return fmt.Errorf("%w at %s", ErrYAML, line)
	}
	return ErrYAML
}

// expanded is how many bytes a node makes once aliases are what they stand for, or more
// than limit.
func expanded(n *yaml.Node, limit, depth int) int {
	size := len(n.Value) + elementSize
	if depth > MaxDepth {
		return limit + 1
	}
	if n.Alias != nil {
		return size + expanded(n.Alias, limit-size, depth+1)
	}
	for _, below := range n.Content {
		if size > limit {
			break
		}
		size += expanded(below, limit-size, depth+1)
	}
	return size
}

func deeper(value any, left int) bool {
	if left < 0 {
		return true
	}
	switch v := value.(type) {
	case map[string]any:
		for _, below := range v {
			if deeper(below, left-1) {
				return true
			}
		}
	case []any:
		for _, below := range v {
			if deeper(below, left-1) {
				return true
			}
		}
	}
	return false
}
