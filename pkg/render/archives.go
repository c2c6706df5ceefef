package render

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
)

// errArchives says that the charts in archives are too large together. Helm bounds each
// archive only, and a few kilobytes hold a hundred megabytes.
var errArchives = errors.New("the archives in charts/ unpack to more than 32 MiB together: leave out what the charts do not need")

// checkArchives adds up what the archives of a chart's dependencies unpack to, those in
// them included. What else is wrong with one Helm says.
func checkArchives(files []*loader.BufferedFile) error {
	left := int64(MaxOutput)
	for _, f := range files {
		if !isDependency(f.Name) {
			continue
		}
		if err := unpackTo(&left, f.Data); err != nil {
			return err
		}
	}
	return nil
}

// isDependency tells whether Helm unpacks a file.
func isDependency(name string) bool {
	return path.Ext(name) == ".tgz" && slices.Contains(strings.Split(path.Dir(name), "/"), "charts")
}

func unpackTo(left *int64, archive []byte) error {
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil
	}
	entries := tar.NewReader(&counted{unzipped, left})
	for {
		header, err := entries.Next()
		if err == nil && isDependency(path.Clean(header.Name)) {
			var below []byte
			if below, err = io.ReadAll(entries); err == nil {
				err = unpackTo(left, below)
			}
		}
		switch {
		case errors.Is(err, errArchives):
			return err
		case err != nil:
			return nil
		}
	}
}

// counted reads until nothing is left.
type counted struct {
	next io.Reader
	left *int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.next.Read(p)
	if *c.left -= int64(n); *c.left < 0 {
		return 0, errArchives
	}
	return n, err
}
