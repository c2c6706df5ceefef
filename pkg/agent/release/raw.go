package release

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/chart"

	"open-cluster-management.io/fleet-addon/pkg/agent/fault"
	"open-cluster-management.io/fleet-addon/pkg/agent/manifest"
	"open-cluster-management.io/fleet-addon/pkg/content"
)

// rawChart wraps the YAML and JSON files of a bundle in a chart whose templates
// only print them, so that braces in them are never taken for a template.
func rawChart(want Want, files []content.File) (*chart.Chart, error) {
	c := &chart.Chart{Metadata: &chart.Metadata{
		APIVersion: chart.APIVersionV2,
		Name:       want.Key.Name,
		Version:    "0.0.0+" + want.Content,
	}}
	for i, f := range files {
		name := path.Clean(f.Name)
		if !isManifest(name) {
			continue
		}
		data, err := normalize(f.Data)
		if err != nil {
			return nil, fault.Terminalf("%s: %w", name, err)
		}
		if len(data) == 0 {
			continue
		}
		raw := fmt.Sprintf("raw/%d", i)
		c.Files = append(c.Files, &chart.File{Name: raw, Data: data})
		c.Templates = append(c.Templates, &chart.File{
			// Helm leaves out a file whose own name begins with an underscore.
			Name: fmt.Sprintf("templates/%d-%s", i, strings.ReplaceAll(name, "/", "-")),
			Data: fmt.Appendf(nil, `{{ .Files.Get %q }}`, raw),
		})
	}
	if len(c.Templates) == 0 {
		return nil, fault.Terminalf("content %s has no chart and no Kubernetes object in a .yaml, .yml or .json file", want.Content)
	}
	return c, nil
}

// isManifest leaves out what Fleet keeps beside the objects: its own
// configuration, and overlays that no option selects.
func isManifest(name string) bool {
	if name == "fleet.yaml" || name == "fleet.yml" || strings.HasPrefix(name, "overlays/") {
		return false
	}
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
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
