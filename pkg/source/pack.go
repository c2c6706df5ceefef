package source

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

// pack makes an archive of a chart. Equal files give equal bytes: an archive with the
// time in it, as Helm makes it, would be a new revision with every look.
func pack(name string, files []content.File) ([]byte, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b content.File) int { return strings.Compare(a.Name, b.Name) })
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: name + "/" + f.Name, Mode: 0o644, Size: int64(len(f.Data))}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("pack chart %s: %w", name, err)
		}
		if _, err := archive.Write(f.Data); err != nil {
			return nil, fmt.Errorf("pack chart %s: %w", name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("pack chart %s: %w", name, err)
	}
	if err := zipped.Close(); err != nil {
		return nil, fmt.Errorf("pack chart %s: %w", name, err)
	}
	return out.Bytes(), nil
}
