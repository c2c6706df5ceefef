package render

import (
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

// templatesDir of a bundle of raw YAML holds templates of Helm.
const templatesDir = "templates/"

// rawChart has the templates of a bundle of raw YAML. Its other files pass Helm by, so
// that braces in them are no template, and annotations no hook.
func rawChart(in Input) (*chart.Chart, error) {
	templates, plain, err := rawFiles(in)
	if err != nil {
		return nil, err
	}
	objects, err := rawObjects(plain)
	if err != nil {
		return nil, err
	}
	if len(templates)+len(objects) == 0 {
		return nil, invalidf("content %s has no chart and no Kubernetes object in a .yaml, .yml or .json file", in.Content)
	}
	c := emptyChart(in)
	for _, f := range templates {
		c.Templates = append(c.Templates, &chart.File{Name: f.Name, Data: f.Data})
	}
	return c, nil
}

// rawFiles are the YAML and JSON files of a bundle, with its overlays.
func rawFiles(in Input) (templates, plain []content.File, err error) {
	files, err := overlaid(in)
	if err != nil {
		return nil, nil, err
	}
	nested := nestedDirs(files)
	for _, f := range files {
		switch {
		case !isManifest(f.Name) || below(f.Name, nested):
		case strings.HasPrefix(f.Name, templatesDir):
			templates = append(templates, f)
		default:
			plain = append(plain, f)
		}
	}
	return templates, plain, nil
}

func rawObjects(files []content.File) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, f := range files {
		objects, err := manifest.Documents(f.Data)
		if err != nil {
			return nil, invalidf("%s: %w", f.Name, err)
		}
		out = append(out, objects...)
	}
	return out, nil
}

// isManifest tells whether a file holds objects: Fleet's own configuration beside them
// does not.
func isManifest(name string) bool {
	if name == "fleet.yaml" || name == "fleet.yml" {
		return false
	}
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// nestedDirs are the directories below the bundle's that are bundles or charts of their
// own, and those of fetched charts.
func nestedDirs(files []content.File) []string {
	dirs := []string{".chart/"}
	for _, f := range files {
		dir, base := path.Split(f.Name)
		if dir != "" && slices.Contains([]string{"fleet.yaml", "fleet.yml", chartFile}, base) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func below(name string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(name, dir) })
}
