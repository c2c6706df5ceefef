package release

import (
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"

	"open-cluster-management.io/fleet-addon/pkg/agent/fault"
	"open-cluster-management.io/fleet-addon/pkg/content"
)

const chartFile = "Chart.yaml"

// Source is what is deployed: a chart and the values for it.
type Source struct {
	chart  *chart.Chart
	values map[string]any
	scrub  func(string) string
}

// NewSource makes the chart of a bundle's files: the Helm chart among them, or
// one that is made around raw YAML. values is the text of a values.yaml and may
// be empty. Errors are terminal and name the file.
func NewSource(want Want, files []content.File, values []byte) (*Source, error) {
	vals, err := chartutil.ReadValues(values)
	if err != nil {
		// The error of the parser would quote the values.
		return nil, fault.Terminalf("the Helm values are no YAML map")
	}
	src := &Source{values: vals, scrub: fault.Scrubber(vals, want.Key.Name, want.Key.Namespace, want.Owner.Name)}
	src.chart, err = chartOf(want, files)
	return src, err
}

func chartOf(want Want, files []content.File) (*chart.Chart, error) {
	dir := path.Clean(want.Options.Helm.Chart)
	if want.Options.Helm.Chart == "" {
		dir = "."
	}
	switch {
	case has(files, path.Join(dir, chartFile)):
		return helmChart(dir, files)
	case want.Options.Helm.Chart != "":
		return nil, fault.Terminalf("helm.chart: the bundle has no file %s", path.Join(dir, chartFile))
	case has(files, "kustomization.yaml"):
		return nil, fault.Terminalf("kustomization.yaml: kustomize is not supported by this version of the agent")
	}
	return rawChart(want, files)
}

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
	c, err := loader.LoadFiles(buffered)
	if err != nil {
		return nil, fault.Terminalf("chart %s: %w", dir, err)
	}
	if c.Metadata.Type == "library" {
		return nil, fault.Terminalf("chart %s: a library chart cannot be installed", c.Name())
	}
	if err := action.CheckDependencies(c, c.Metadata.Dependencies); err != nil {
		return nil, fault.Terminalf("chart %s: %w", c.Name(), err)
	}
	return c, nil
}

func has(files []content.File, name string) bool {
	for _, f := range files {
		if path.Clean(f.Name) == name {
			return true
		}
	}
	return false
}
