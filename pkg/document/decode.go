package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// decode fills a pointer to a type from a document. Unknown fields, and values of the
// wrong type, are errors that start with the field's path.
func decode(doc map[string]any, into any) error {
	data, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		if at := culprit(doc, into); at != "" {
			return fmt.Errorf("%s: %w", at, plain(err))
		}
		return plain(err)
	}
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(doc, into, true)
	var strict interface{ Errors() []error }
	if !errors.As(err, &strict) {
		return err
	}
	var list []error
	for _, e := range strict.Errors() {
		field, unknown := strings.CutPrefix(e.Error(), "unknown field ")
		if !unknown {
			list = append(list, e)
			continue
		}
		list = append(list, fmt.Errorf("%s: there is no such field", strings.Trim(field, `"`)))
	}
	return errors.Join(list...)
}

// plain is a JSON error without Go's names.
func plain(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("a %s does not fit here, %s is wanted", wrong.Value, shape(wrong.Type.Kind().String()))
	}
	return err
}

func shape(kind string) string {
	switch {
	case kind == "slice" || kind == "array":
		return "a list"
	case kind == "map" || kind == "struct" || kind == "ptr":
		return "a map of fields"
	case kind == "bool":
		return "true or false"
	case kind == "string":
		return "text"
	case strings.HasPrefix(kind, "int") || strings.HasPrefix(kind, "uint"):
		return "a whole number"
	}
	return "a " + kind
}

// culprit finds the field without which the document can be read: what reads a value
// of its own, such as a duration, names no field in its error.
func culprit(doc map[string]any, into any) string {
	root := any(doc)
	reads := func() bool {
		data, err := json.Marshal(root)
		return err == nil && json.Unmarshal(data, into) == nil
	}
	return search(root, "", reads)
}

// search takes one value after the other away, and puts it back.
func search(value any, path string, reads func() bool) string {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			at, was := strings.TrimPrefix(path+"."+key, "."), v[key]
			delete(v, key)
			cured := reads()
			v[key] = was
			if cured {
				return deepest(was, at, reads)
			}
		}
	case []any:
		for i, was := range v {
			v[i] = nil
			cured := reads()
			v[i] = was
			if cured {
				return deepest(was, fmt.Sprintf("%s[%d]", path, i), reads)
			}
		}
	}
	return ""
}

// deepest goes on with what is in a value that cannot be read.
func deepest(value any, path string, reads func() bool) string {
	if deeper := search(value, path, reads); deeper != "" {
		return deeper
	}
	return path
}
