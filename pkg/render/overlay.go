package render

import (
	"path"
	"slices"
	"strings"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

// overlaysDir holds a directory for each overlay.
const overlaysDir = "overlays/"

// overlaid are the files of a bundle of raw YAML, by name.
func overlaid(in Input) ([]content.File, error) {
	files := make([]content.File, 0, len(in.Files))
	for _, f := range in.Files {
		if name := path.Clean(f.Name); !strings.HasPrefix(name, overlaysDir) {
			files = append(files, content.File{Name: name, Data: f.Data})
		}
	}
	slices.SortFunc(files, func(a, b content.File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}
