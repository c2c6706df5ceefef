package source

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

// Dependencies implements bundle.Charts: what of the dependencies is not in charts/ is
// fetched, in the versions of Chart.lock if there is one, and else in the newest ones that
// Chart.yaml allows. What is there is left as it is.
func (c *Charts) Dependencies(ctx context.Context, dir string, files []content.File) ([]content.File, error) {
	it, err := loadForDependencies(files)
	if err != nil {
		return nil, err
	}
	missing, err := missing(it)
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	if err := checkLock(it); err != nil {
		return nil, fmt.Errorf("chart %s: %w", it.Name(), err)
	}
	var out []content.File
	for _, d := range missing {
		file, err := c.dependency(ctx, c.access.of(dir), locked(it, d), files)
		if err != nil {
			return nil, fmt.Errorf("dependency %q of chart %s: %w", d.Name, it.Name(), err)
		}
		if !slices.ContainsFunc(out, func(f content.File) bool { return f.Name == file.Name }) {
			out = append(out, file)
		}
	}
	slices.SortFunc(out, func(a, b content.File) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// loadForDependencies loads a chart without what does not matter to its dependencies,
// and can be wrong.
func loadForDependencies(files []content.File) (*chart.Chart, error) {
	var parts []*loader.BufferedFile
	for _, f := range files {
		switch {
		case strings.HasPrefix(f.Name, "charts/"):
		case slices.Contains([]string{"Chart.yaml", "Chart.lock", "requirements.yaml", "requirements.lock"}, f.Name):
		default:
			continue
		}
		parts = append(parts, &loader.BufferedFile{Name: f.Name, Data: f.Data})
	}
	it, err := loader.LoadFiles(parts)
	if err != nil {
		return nil, fmt.Errorf("load the chart to find its dependencies: %w", err)
	}
	return it, nil
}

// missing are the dependencies that are not in charts/. Like Helm it looks at names; but
// one name that is wanted in two versions is there only if both are.
func missing(it *chart.Chart) ([]*chart.Dependency, error) {
	wanted := it.Metadata.Dependencies
	var out []*chart.Dependency
	for _, d := range wanted {
		if d == nil {
			return nil, fmt.Errorf("chart %s: Chart.yaml has a dependency that is empty", it.Name())
		}
		alone := count(wanted, func(o *chart.Dependency) bool { return o != nil && o.Name == d.Name }) == 1
		there := slices.ContainsFunc(it.Dependencies(), func(sub *chart.Chart) bool {
			return sub.Name() == d.Name && (alone || fulfils(sub.Metadata.Version, d.Version))
		})
		if there {
			continue
		}
		if d.Repository == "" {
			return nil, fmt.Errorf("dependency %q of chart %s: it is not in charts/, and has no repository; put the chart there or name its repository", d.Name, it.Name())
		}
		out = append(out, d)
	}
	return out, nil
}

func count(all []*chart.Dependency, is func(*chart.Dependency) bool) int {
	n := 0
	for _, d := range all {
		if is(d) {
			n++
		}
	}
	return n
}

func fulfils(version, constraint string) bool {
	c, err := semver.NewConstraint(constraint)
	if err != nil {
		return version == constraint
	}
	v, err := semver.NewVersion(version)
	return err == nil && c.Check(v)
}

// dependency fetches one, as it stands in charts/.
func (c *Charts) dependency(ctx context.Context, a access, d *chart.Dependency, files []content.File) (content.File, error) {
	switch {
	case strings.HasPrefix(d.Repository, "@"), strings.HasPrefix(d.Repository, "alias:"):
		return content.File{}, fmt.Errorf("its repository %q is a name from `helm repo add`, which only your own Helm knows: write the URL, or put the chart into charts/ with `helm dependency build`", d.Repository)
	case strings.HasPrefix(d.Repository, "file://"):
		return localDependency(d, files)
	}
	where, err := locateIn("its repository", d.Repository, d.Name, d.Version)
	if err != nil {
		return content.File{}, err
	}
	if where.kind == inRegistry {
		// A dependency's repository is always what is above the chart.
		where.url = where.url.JoinPath(d.Name)
		where.written, where.name = redact(where.url), ""
	}
	got, err := c.fetch(ctx, a, where)
	if err != nil {
		return content.File{}, err
	}
	return dependencyFile(got.name, got.version, got.archive)
}

// dependencyFile is named as Helm names it.
func dependencyFile(name, version string, archive []byte) (content.File, error) {
	base := name + "-" + version + ".tgz"
	if strings.ContainsAny(base, "/\\") {
		return content.File{}, fmt.Errorf("%w: a chart of the name %q and the version %q", ErrUnsafe, name, version)
	}
	return content.File{Name: "charts/" + base, Data: archive}, nil
}

// localDependency packs a chart that is among the files of the one that needs it.
func localDependency(d *chart.Dependency, files []content.File) (content.File, error) {
	dir := strings.TrimPrefix(d.Repository, "file://")
	clean := path.Clean(dir)
	if dir == "" || path.IsAbs(dir) || clean == "." || clean == ".." || strings.HasPrefix(clean, "../") {
		return content.File{}, fmt.Errorf("%w: its repository %q is outside of the chart: put the dependency into charts/ with `helm dependency build`", ErrUnsafe, d.Repository)
	}
	var own []content.File
	for _, f := range files {
		if name, ok := strings.CutPrefix(f.Name, clean+"/"); ok {
			own = append(own, content.File{Name: name, Data: f.Data})
		}
	}
	if len(own) == 0 {
		return content.File{}, fmt.Errorf("its repository %q is no directory of the chart", d.Repository)
	}
	sub, err := loadForDependencies(own)
	if err != nil {
		return content.File{}, fmt.Errorf("its repository %q: %w", d.Repository, err)
	}
	if sub.Name() != d.Name {
		return content.File{}, fmt.Errorf("its repository %q has the chart %q", d.Repository, sub.Name())
	}
	if d.Version != "" && !fulfils(sub.Metadata.Version, d.Version) {
		return content.File{}, fmt.Errorf("its repository %q has version %s, which %q does not allow", d.Repository, sub.Metadata.Version, d.Version)
	}
	data, err := pack(sub.Name(), own)
	if err != nil {
		return content.File{}, err
	}
	return dependencyFile(sub.Name(), sub.Metadata.Version, data)
}

var errOutOfSync = errors.New("its Chart.lock does not belong to Chart.yaml any more: run `helm dependency update` and commit Chart.lock")
