package render

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

const (
	// overlaysDir holds a directory for each overlay.
	overlaysDir = "overlays/"
	// patchMark in the name of a file tells that it patches the file without it.
	patchMark = "_patch."
)

// overlaid are the files of a bundle of raw YAML, by name, once the overlays that the
// options name have replaced, added and patched some of them, in the options' order.
func overlaid(in Input) ([]content.File, error) {
	files := map[string][]byte{}
	overlays := map[string]map[string][]byte{}
	for _, f := range in.Files {
		name := path.Clean(f.Name)
		rest, ok := strings.CutPrefix(name, overlaysDir)
		if !ok {
			files[name] = f.Data
			continue
		}
		overlay, file, ok := strings.Cut(rest, "/")
		if !ok {
			continue
		}
		if overlays[overlay] == nil {
			overlays[overlay] = map[string][]byte{}
		}
		overlays[overlay][file] = f.Data
	}
	if in.Options.YAML != nil {
		for _, name := range in.Options.YAML.Overlays {
			if overlays[name] == nil {
				return nil, unknownOverlay(name, overlays)
			}
			if err := overlay(files, overlays[name]); err != nil {
				return nil, invalidf("overlays/%s/%w", name, err)
			}
		}
	}
	out := make([]content.File, 0, len(files))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		out = append(out, content.File{Name: name, Data: files[name]})
	}
	return out, nil
}

func unknownOverlay(name string, overlays map[string]map[string][]byte) error {
	if len(overlays) == 0 {
		return invalidf("yaml.overlays: there is no overlay %q, the bundle has no files below overlays/", name)
	}
	return invalidf("yaml.overlays: there is no overlay %q, only %s", name, strings.Join(slices.Sorted(maps.Keys(overlays)), ", "))
}

// overlay brings in the files of one overlay: whole files first, so that it can patch
// what it brings itself.
func overlay(files, over map[string][]byte) error {
	var patches []string
	for _, name := range slices.Sorted(maps.Keys(over)) {
		if _, ok := patched(name); ok {
			patches = append(patches, name)
			continue
		}
		files[name] = over[name]
	}
	for _, name := range patches {
		target, _ := patched(name)
		base, ok := files[target]
		if !ok {
			return fmt.Errorf("%s: there is no file %s to patch", name, target)
		}
		result, err := applyPatch(base, over[name])
		if err != nil {
			return fmt.Errorf("%s: patch %s: %w", name, target, err)
		}
		files[target] = result
	}
	return nil
}

// patched is the file that a patch is for; false if the file is no patch.
func patched(name string) (string, bool) {
	dir, base := path.Split(name)
	if !strings.Contains(base, patchMark) {
		return "", false
	}
	return path.Join(dir, strings.Replace(base, patchMark, ".", 1)), true
}
