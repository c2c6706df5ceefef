package servers

import (
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/repo"
)

var quiet = log.New(io.Discard, "", 0)

// Chart is a chart whose files are its Chart.yaml, with these dependencies, and those
// given as name, content, name, content.
func Chart(t T, name, version string, dependencies []*chart.Dependency, nameAndContent ...string) *chart.Chart {
	t.Helper()
	var meta strings.Builder
	meta.WriteString("apiVersion: v2\nname: " + name + "\nversion: " + version + "\n")
	if len(dependencies) > 0 {
		meta.WriteString("dependencies:\n")
	}
	for _, d := range dependencies {
		meta.WriteString("- name: " + d.Name + "\n  version: \"" + d.Version + "\"\n  repository: \"" + d.Repository + "\"\n")
		if d.Alias != "" {
			meta.WriteString("  alias: " + d.Alias + "\n")
		}
	}
	files := []*loader.BufferedFile{{Name: "Chart.yaml", Data: []byte(meta.String())}}
	for i := 0; i+1 < len(nameAndContent); i += 2 {
		files = append(files, &loader.BufferedFile{Name: nameAndContent[i], Data: []byte(nameAndContent[i+1])})
	}
	c, err := loader.LoadFiles(files)
	if err != nil {
		t.Fatalf("make chart %s: %v", name, err)
	}
	return c
}

// Archive is a chart as `helm package` writes it, and the name of that file.
func Archive(t T, c *chart.Chart) (name string, data []byte) {
	t.Helper()
	path, err := chartutil.Save(c, t.TempDir())
	if err != nil {
		t.Fatalf("package chart %s: %v", c.Name(), err)
	}
	data, err = os.ReadFile(path)
	if err != nil {
		t.Fatalf("read chart %s: %v", c.Name(), err)
	}
	return filepath.Base(path), data
}

// Repository is a chart repository.
type Repository struct {
	*Server
	dir string
}

// NewRepository serves charts with the index.yaml that `helm repo index` makes.
func NewRepository(t T, o Options, charts ...*chart.Chart) *Repository {
	t.Helper()
	r := &Repository{Server: New(t, o), dir: t.TempDir()}
	r.Handle("/", http.FileServer(http.Dir(r.dir)).ServeHTTP)
	r.Add(t, "", charts...)
	return r
}

// Add charts and write the index anew. Its chart URLs begin with base; they are relative
// where that is empty.
func (r *Repository) Add(t T, base string, charts ...*chart.Chart) {
	t.Helper()
	for _, c := range charts {
		if _, err := chartutil.Save(c, r.dir); err != nil {
			t.Fatalf("package chart %s: %v", c.Name(), err)
		}
	}
	index, err := repo.IndexDirectory(r.dir, base)
	if err != nil {
		t.Fatalf("index charts: %v", err)
	}
	index.SortEntries()
	r.Index(t, index)
}

// Index replaces the index.yaml.
func (r *Repository) Index(t T, index *repo.IndexFile) {
	t.Helper()
	if err := index.WriteFile(filepath.Join(r.dir, "index.yaml"), 0o600); err != nil {
		t.Fatalf("write index: %v", err)
	}
}
