package render

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"
	"testing"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

// archiveOf is a chart in an archive, with files of zeros that have so many MiB together.
func archiveOf(t *testing.T, name string, mib int, more ...content.File) []byte {
	t.Helper()
	files := append([]content.File{{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n")}}, more...)
	for i := range mib {
		files = append(files, content.File{Name: fmt.Sprintf("files/%d", i), Data: make([]byte, 1<<20)})
	}
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		if err := archive.WriteHeader(&tar.Header{Name: name + "/" + f.Name, Mode: 0o644, Size: int64(len(f.Data)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(f.Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestArchivesOfDependenciesAreBoundedTogether(t *testing.T) {
	in := func(charts ...content.File) Input {
		files := []content.File{{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n")}}
		return Input{Bundle: "a/web", Release: "web", Namespace: "web", Files: append(files, charts...)}
	}
	few := content.File{Name: "charts/few.tgz", Data: archiveOf(t, "few", 10)}
	inside := content.File{Name: "charts/deep.tgz", Data: archiveOf(t, "deep", 1, content.File{Name: "charts/few.tgz", Data: few.Data})}
	second := content.File{Name: "charts/more.tgz", Data: archiveOf(t, "more", 12)}
	if c, err := Chart(in(few, inside)); err != nil || len(c.Dependencies()) != 2 {
		t.Errorf("two archives that fit: %v", err)
	}
	_, err := Chart(in(few, second, inside))
	if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "unpack to more than 32 MiB") {
		t.Errorf("got %v, want an error about archives that are too large together", err)
	}
}
