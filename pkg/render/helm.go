package render

import (
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

// helmChart loads the chart in a directory of the bundle.
func helmChart(dir string, files []content.File) (*chart.Chart, error) {
	var buffered []*loader.BufferedFile
	for _, f := range files {
		name := path.Clean(f.Name)
		if dir != "." {
			rest, ok := strings.CutPrefix(name, dir+"/")
			if !ok {
				continue
			}
			name = rest
		}
		buffered = append(buffered, &loader.BufferedFile{Name: name, Data: f.Data})
	}
	if err := checkArchives(buffered); err != nil {
		return nil, invalidf("chart %s: %w", dir, err)
	}
	c, err := loader.LoadFiles(buffered)
	if err != nil {
		return nil, invalidf("chart %s: %w", dir, err)
	}
	if c.Metadata.Type == "library" {
		return nil, invalidf("chart %s: a library chart cannot be installed", c.Name())
	}
	if err := action.CheckDependencies(c, c.Metadata.Dependencies); err != nil {
		return nil, invalidf("chart %s: %w", c.Name(), err)
	}
	return c, nil
}

// emptyChart is what goes around objects that no chart makes.
func emptyChart(in Input) *chart.Chart {
	version := "0.0.0"
	if in.Content != "" {
		version += "+" + in.Content
	}
	return &chart.Chart{Metadata: &chart.Metadata{
		APIVersion: chart.APIVersionV2,
		Name:       in.Release,
		Version:    version,
	}}
}
