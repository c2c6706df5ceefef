package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

// valuesFiles are the files that a Helm block names, by their clean paths. field is the
// path to the block: a word, or a word and a number.
func (o *options) valuesFiles(h *fleet.HelmOptions, field ...any) ([]string, error) {
	var names []string
	for i, written := range h.ValuesFiles {
		name, err := inside(written)
		if err != nil {
			return nil, fmt.Errorf("%s: helm.valuesFiles: %w", o.file.find(append(field, "helm", "valuesFiles", i)...), err)
		}
		names = append(names, name)
	}
	return names, nil
}

// mergeValues puts the values files of a Helm block over its values, in their order, and
// returns the names of the files.
//
// Fleet does not do this for a bundle whose chart is its own directory: there it leaves
// the files of the whole bundle out, although it keeps them away from the resources too.
func (o *options) mergeValues(f *folder, h *fleet.HelmOptions, field ...any) ([]string, error) {
	names, err := o.valuesFiles(h, field...)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		at := o.file.find(append(field, "helm", "valuesFiles", i)...)
		data, err := f.read(name, MaxOptions)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: helm.valuesFiles: %w; its path is relative to the directory of the bundle", at, err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: helm.valuesFiles: %w", at, err)
		}
		values := &fleet.GenericMap{}
		// Free keys: none of them is unknown.
		if _, _, err := decode(f.show(name), data, reflect.TypeOf(values), nil, true, values); err != nil {
			return nil, err
		}
		if len(values.Data) == 0 {
			continue
		}
		if h.Values == nil {
			h.Values = &fleet.GenericMap{}
		}
		h.Values.Data = overlay(h.Values.Data, values.Data)
	}
	return names, nil
}

// overlay merges maps deeply; everything else, lists too, is replaced.
func overlay(base, over map[string]any) map[string]any {
	merged := make(map[string]any, len(base)+len(over))
	for key, value := range base {
		merged[key] = value
	}
	for key, value := range over {
		below, isMap := merged[key].(map[string]any)
		above, both := value.(map[string]any)
		if isMap && both {
			value = overlay(below, above)
		}
		merged[key] = value
	}
	return merged
}
