package bundle

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

// chartSource is a chart that a bundle names, and the field that does.
type chartSource struct {
	ChartRef
	// at is the place of the field, for people.
	at string
}

// files returns everything that a bundle carries: the files of its directory, then those
// of charts that are not in it, each chart once, then what charts lack of their
// dependencies.
func (r *reader) files(ctx context.Context, p place, f *folder, o *options, skip map[string]bool, fieldOf func(int) []any) ([]content.File, error) {
	own, err := collect(ctx, f, skip)
	if err != nil {
		return nil, err
	}
	d := dependencies{reader: r, ctx: ctx, dir: p.dir, off: o.Helm != nil && o.Helm.DisableDependencyUpdate}
	all, err := d.complete(own.files, own.charts, p.dir)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, source := range o.charts(p.dir, fieldOf) {
		prefix := content.ChartDir(source.Chart, source.Repo, source.Version)
		if known[prefix] {
			continue
		}
		known[prefix] = true
		chart, err := r.chart(ctx, f, source, d)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source.at, err)
		}
		o.warnAboutChart(source, all, chart)
		for _, file := range chart {
			all = append(all, content.File{Name: path.Join(prefix, file.Name), Data: file.Data})
		}
	}
	return all, check(f.shown, all)
}

// warnAboutChart says that a chart in the directory of the bundle is not carried.
func (o *options) warnAboutChart(source chartSource, own, fetched []content.File) {
	name := path.Join(source.Chart, chartFile)
	if len(fetched) > 0 || slices.ContainsFunc(own, func(f content.File) bool { return f.Name == name }) {
		return
	}
	o.warnings = append(o.warnings, fmt.Sprintf("%s: the bundle carries no %s, so its files are deployed as they are; name the directory of a chart that is not hidden or ignored",
		source.at, name))
}

// check bounds what came from elsewhere like the rest, and puts it in order.
func check(shown string, all []content.File) error {
	if len(all) > MaxFiles {
		return tooManyFiles(shown)
	}
	bytes := 0
	for _, file := range all {
		bytes += len(file.Data)
	}
	if bytes > MaxRead {
		return tooMuch(shown, all)
	}
	slices.SortStableFunc(all, byName)
	return nil
}

// charts lists the charts that the Helm blocks name, the bundle's first.
func (o *options) charts(dir string, fieldOf func(int) []any) []chartSource {
	var all []chartSource
	add := func(h *fleet.HelmOptions, field ...any) {
		if h == nil || h.Chart == "" && h.Repo == "" {
			return
		}
		name := "chart"
		if h.Chart == "" {
			name = "repo"
		}
		all = append(all, chartSource{
			ChartRef: ChartRef{Dir: dir, Chart: h.Chart, Repo: h.Repo, Version: h.Version},
			at:       o.file.find(append(field, "helm", name)...) + ": helm." + name,
		})
	}
	add(o.Helm)
	for i := range o.Targets {
		add(o.Targets[i].Helm, fieldOf(i)...)
	}
	return all
}

// chart returns the files of a chart that is not in the directory of the bundle; none for
// one that is.
func (r *reader) chart(ctx context.Context, f *folder, source chartSource, d dependencies) ([]content.File, error) {
	if source.Repo == "" {
		local, files, err := r.localChart(ctx, f, source, d)
		if err != nil || local {
			return files, err
		}
	}
	if r.request.Charts == nil {
		return nil, fmt.Errorf("%s is elsewhere, and no charts are fetched here; put the chart into the directory", source.words())
	}
	files, err := r.request.Charts.Chart(ctx, source.ChartRef)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source.words(), err)
	}
	if err := checkChart(files); err != nil {
		return nil, fmt.Errorf("%s: %w", source.words(), err)
	}
	// The paths of its dependencies on disk lead nowhere.
	return d.complete(files, chartsOf(files), "")
}

// checkChart trusts no names that came over the network.
func checkChart(files []content.File) error {
	for _, file := range files {
		if clean, err := inside(file.Name); err != nil || clean != file.Name || clean == "." {
			return fmt.Errorf("its file %q %w of the chart", file.Name, ErrOutside)
		}
	}
	if len(chartsOf(files)) == 0 {
		return errors.New("there is no Chart.yaml in it; name the directory of a chart")
	}
	return nil
}

func chartsOf(files []content.File) []string {
	var dirs []string
	for _, file := range files {
		if path.Base(file.Name) == chartFile {
			dirs = append(dirs, path.Dir(file.Name))
		}
	}
	return dirs
}

// localChart says whether helm.chart is a directory or an archive on disk. A directory
// beside the bundle's is read, as long as it is below the root; one in it is carried anyway.
func (r *reader) localChart(ctx context.Context, f *folder, source chartSource, d dependencies) (bool, []content.File, error) {
	written := source.Chart
	if strings.Contains(written, "://") || strings.Contains(written, "::") {
		return false, nil, nil
	}
	if path.IsAbs(written) {
		return false, nil, fmt.Errorf("%q %w that is read; write a path relative to the directory of the bundle", written, ErrOutside)
	}
	if _, err := inside(written); err == nil {
		isDir, err := f.isDir(written)
		if err != nil || isDir {
			return isDir, nil, err
		}
		if isArchive(f, written) {
			return r.archive(f, written, d)
		}
		return false, nil, r.noLocalChart(f, written)
	}
	dir := path.Join(source.Dir, written)
	if _, err := inside(dir); err != nil {
		return false, nil, fmt.Errorf("%q %w that is read; move the chart into it, or read from a directory above", written, ErrOutside)
	}
	if isArchive(r.root, dir) {
		return r.archive(r.root, dir, d)
	}
	chart, err := r.root.sub(dir)
	if err != nil {
		return false, nil, err
	}
	defer chart.close()
	c, err := collect(ctx, chart, nil)
	if err != nil {
		return false, nil, err
	}
	if !slices.Contains(c.charts, ".") {
		return false, nil, fmt.Errorf("%s: there is no Chart.yaml in it", chart.shown)
	}
	files, err := d.complete(c.files, c.charts, dir)
	return true, files, err
}

// isArchive tells whether a name is that of an archive that is there.
func isArchive(in *folder, name string) bool {
	if !strings.HasSuffix(name, ".tgz") && !strings.HasSuffix(name, ".tar.gz") && !strings.HasSuffix(name, ".tar") {
		return false
	}
	info, err := in.root.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// archive returns the files of a chart that is an archive on disk.
func (r *reader) archive(in *folder, name string, d dependencies) (bool, []content.File, error) {
	if r.request.Charts == nil {
		return false, nil, fmt.Errorf("%s is an archive, and none are unpacked here; put the directory of the chart in its place", in.show(name))
	}
	data, err := in.read(name, MaxFile)
	if err != nil {
		return false, nil, err
	}
	files, err := r.request.Charts.Unpack(data)
	if err == nil {
		err = checkChart(files)
	}
	if err != nil {
		return false, nil, fmt.Errorf("%s: %w", in.show(name), err)
	}
	files, err = d.complete(files, chartsOf(files), "")
	return true, files, err
}

// noLocalChart refuses what can only have been meant as a path. Anything else may be an
// address without a scheme, as git@host:path is.
func (r *reader) noLocalChart(f *folder, written string) error {
	if _, err := f.root.Stat(written); err == nil {
		return fmt.Errorf("%q is a file; unpack the chart, or name it with its address", written)
	}
	if strings.HasPrefix(written, ".") || !strings.ContainsAny(written, ".:@") {
		return fmt.Errorf("there is no directory %q in %s; if the chart is in a repository, set helm.repo", written, f.shown)
	}
	return nil
}

// words names a chart without any password that its addresses may have.
func (s chartSource) words() string {
	text := fmt.Sprintf("chart %q", redacted(s.Chart))
	if s.Repo != "" {
		text += fmt.Sprintf(" of repository %q", redacted(s.Repo))
	}
	if s.Version != "" {
		text += fmt.Sprintf(" in version %q", s.Version)
	}
	return text
}

func redacted(address string) string {
	forced, rest, ok := strings.Cut(address, "::")
	if !ok {
		forced, rest = "", address
	} else {
		forced += "::"
	}
	u, err := url.Parse(rest)
	if err != nil {
		return "(an address that cannot be read)"
	}
	u.RawQuery = ""
	return forced + u.Redacted()
}
