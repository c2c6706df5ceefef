package render

import (
	"path"
	"slices"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

const chartFile = "Chart.yaml"

// style is what a bundle is on a cluster. Kustomize may come after Helm; a bundle that
// is neither is raw YAML.
type style struct {
	helm bool
	// chart is the directory of the chart.
	chart     string
	kustomize bool
}

func styleOf(in Input) (style, error) {
	dir := kustomizeDir(in.Options)
	s := style{kustomize: kustomizationIn(dir, in.Files) != ""}
	if dir != "." && !s.kustomize {
		return s, invalidf("kustomize.dir: the bundle has no file %s", path.Join(dir, kustomizations[0]))
	}
	var err error
	s.chart, s.helm, err = chartDir(in.Options.Helm, in.Files)
	return s, err
}

// chartDir finds the chart that the options name. One that came from elsewhere wins over
// a directory of the bundle that happens to have its name.
func chartDir(o *fleet.HelmOptions, files []content.File) (string, bool, error) {
	if o == nil || o.Chart == "" && o.Repo == "" {
		return ".", has(files, chartFile), nil
	}
	fetched := content.ChartDir(o.Chart, o.Repo, o.Version)
	dirs := fetchedCharts(fetched, files)
	if len(dirs) > 1 {
		return "", false, invalidf("chart %s: the bundle has two of it, %s and %s; apply the bundle again",
			o.Chart, path.Join(dirs[0], chartFile), path.Join(dirs[1], chartFile))
	}
	if len(dirs) == 1 {
		return dirs[0], true, nil
	}
	field, dir := "helm.chart", strings.TrimPrefix(path.Clean(o.Chart), "/")
	if o.Chart == "" {
		field, dir = "helm.repo", strings.TrimPrefix(path.Clean(o.Repo), "/")
	}
	if file := path.Join(dir, chartFile); has(files, file) {
		return dir, true, nil
	}
	if o.Repo != "" || strings.Contains(o.Chart, "://") {
		return "", false, invalidf("%s: the bundle does not carry the chart, which belongs below %s; apply the bundle again with fleetctl apply, which fetches it",
			field, fetched)
	}
	return "", false, invalidf("%s: the bundle has no file %s", field, path.Join(dir, chartFile))
}

// fetchedCharts are the directories of charts at a place, or in its directories: an
// archive has the chart in one of the chart's name.
func fetchedCharts(at string, files []content.File) []string {
	var dirs []string
	for _, f := range files {
		name := path.Clean(f.Name)
		dir := path.Dir(name)
		if path.Base(name) != chartFile || dir != at && path.Dir(dir) != at {
			continue
		}
		if dir == at {
			return []string{at}
		}
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return dirs
}

func has(files []content.File, name string) bool {
	return slices.ContainsFunc(files, func(f content.File) bool { return path.Clean(f.Name) == name })
}
