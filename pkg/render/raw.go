package render

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"

	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

const (
	// templatesDir of a bundle of raw YAML holds templates of Helm.
	templatesDir = "templates/"
	// rawDir of the chart that is made holds what is no template. Its names begin with a
	// number, so that no two are equal once they have no slash.
	rawDir = "raw/"
)

// rawChart wraps the YAML and JSON files of a bundle in a chart. Those in templates/ are
// its templates; the others are only printed, so that braces in them are never taken for
// a template.
func rawChart(in Input) (*chart.Chart, error) {
	files, err := overlaid(in)
	if err != nil {
		return nil, err
	}
	c := emptyChart(in)
	nested := nestedDirs(files)
	for i, f := range files {
		if !isManifest(f.Name) || below(f.Name, nested) {
			continue
		}
		if strings.HasPrefix(f.Name, templatesDir) {
			c.Templates = append(c.Templates, &chart.File{Name: f.Name, Data: f.Data})
			continue
		}
		data, err := normalize(f.Data)
		if err != nil {
			return nil, invalidf("%s: %w", f.Name, err)
		}
		if len(data) == 0 {
			continue
		}
		raw := fmt.Sprintf("%s%d", rawDir, i)
		c.Files = append(c.Files, &chart.File{Name: raw, Data: data})
		c.Templates = append(c.Templates, &chart.File{
			// Helm leaves out a file whose own name begins with an underscore.
			Name: fmt.Sprintf("%s%d-%s", rawDir, i, strings.ReplaceAll(f.Name, "/", "-")),
			Data: fmt.Appendf(nil, `{{ .Files.Get %q }}`, raw),
		})
	}
	if len(c.Templates) == 0 {
		return nil, invalidf("content %s has no chart and no Kubernetes object in a .yaml, .yml or .json file", in.Content)
	}
	return c, nil
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

// normalize prints each object as one line of JSON, which is YAML too: Helm
// splits streams with an expression that a block of text could meet.
func normalize(data []byte) ([]byte, error) {
	objects, err := manifest.Documents(data)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, o := range objects {
		raw, err := o.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
		out.WriteString("---\n")
		out.Write(raw)
	}
	return out.Bytes(), nil
}
