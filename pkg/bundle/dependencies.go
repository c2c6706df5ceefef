package bundle

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

// dependencies completes charts.
type dependencies struct {
	*reader
	ctx context.Context
	// dir is the bundle's, which credentials can depend on.
	dir string
	// off is helm.disableDependencyUpdate.
	off bool
}

// chartMeta is what of a Chart.yaml, or of the requirements.yaml of older charts, says
// what the chart needs.
type chartMeta struct {
	Dependencies []struct {
		Name       string `json:"name"`
		Repository string `json:"repository"`
	} `json:"dependencies"`
}

// complete adds to files what the charts in these directories of them lack. disk is where
// the files are below the root, "" for nowhere. Charts come before those that they are in
// the charts directory of.
func (d dependencies) complete(files []content.File, charts []string, disk string) ([]content.File, error) {
	if d.off {
		return files, nil
	}
	charts = slices.Clone(charts)
	slices.SortFunc(charts, func(a, b string) int { return strings.Count(b, "/") - strings.Count(a, "/") })
	for _, chart := range charts {
		own := under(files, chart)
		needed, err := meta(own)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.Join(disk, chart, chartFile), err)
		}
		if len(needed.Dependencies) == 0 {
			continue
		}
		added, err := d.missing(own, needed, chart, disk)
		if err != nil {
			return nil, fmt.Errorf("%s: dependencies: %w", path.Join(disk, chart, chartFile), err)
		}
		for _, file := range added {
			files = append(files, content.File{Name: path.Join(chart, file.Name), Data: file.Data})
		}
	}
	return files, nil
}

// meta reads what a chart needs.
func meta(chart []content.File) (chartMeta, error) {
	var all chartMeta
	for _, name := range []string{chartFile, "requirements.yaml"} {
		i := slices.IndexFunc(chart, func(f content.File) bool { return f.Name == name })
		if i < 0 {
			continue
		}
		data := chart[i].Data
		if len(data) > MaxOptions {
			return all, fmt.Errorf("%w: it has more than %s", ErrTooLarge, size(MaxOptions))
		}
		// Bounded, and with the line of what is no YAML.
		if _, err := parseYAML(name, data); err != nil {
			return all, err
		}
		var one chartMeta
		if err := yaml.Unmarshal(data, &one); err != nil {
			return all, fmt.Errorf("%s: %w", name, err)
		}
		all.Dependencies = append(all.Dependencies, one.Dependencies...)
	}
	return all, nil
}

// missing returns the files that a chart lacks: those of directories beside it, which only
// we can read, then what is to be fetched.
func (d dependencies) missing(chart []content.File, needed chartMeta, dir, disk string) ([]content.File, error) {
	var added []content.File
	fetch := false
	for _, dep := range needed.Dependencies {
		if has(chart, dep.Name) {
			continue
		}
		beside, isPath := strings.CutPrefix(dep.Repository, "file://")
		if !isPath || disk == "" {
			// What a chart from elsewhere has beside it came with it, or did not come.
			fetch = true
			continue
		}
		files, err := d.beside(dep.Name, beside, dir, disk)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", dep.Name, err)
		}
		added = append(added, files...)
	}
	if d.request.Charts == nil {
		if fetch {
			return nil, errors.New("some are not in the charts directory, and no charts are fetched here; run `helm dependency build`, or set helm.disableDependencyUpdate")
		}
		return added, nil
	}
	fetched, err := d.request.Charts.Dependencies(d.ctx, d.dir, append(slices.Clone(chart), added...))
	if err != nil {
		return nil, err
	}
	for _, file := range fetched {
		if clean, err := inside(file.Name); err != nil || clean != file.Name {
			return nil, fmt.Errorf("the file %q %w of the chart", file.Name, ErrOutside)
		}
	}
	return append(added, fetched...), nil
}

// has looks for a dependency in the charts directory, of whichever version.
func has(chart []content.File, name string) bool {
	return slices.ContainsFunc(chart, func(f content.File) bool {
		rest, ok := strings.CutPrefix(f.Name, "charts/")
		return ok && (rest == name+"/"+chartFile || strings.HasPrefix(rest, name+"-") && strings.HasSuffix(rest, ".tgz") && !strings.Contains(rest, "/"))
	})
}

// beside reads a dependency from the directory that its repository names, below the root.
func (d dependencies) beside(name, written, dir, disk string) ([]content.File, error) {
	if path.IsAbs(written) {
		return nil, fmt.Errorf("repository file://%s %w that is read; copy the chart into the charts directory", written, ErrOutside)
	}
	if clean, err := inside(name); err != nil || clean != name || strings.Contains(name, "/") {
		return nil, errors.New("its name is no name of a chart")
	}
	from := path.Join(disk, dir, written)
	if _, err := inside(from); err != nil {
		return nil, fmt.Errorf("repository file://%s %w that is read; copy the chart into the charts directory", written, ErrOutside)
	}
	f, err := d.root.sub(from)
	if err != nil {
		return nil, err
	}
	defer f.close()
	c, err := collect(d.ctx, f, nil)
	if err != nil {
		return nil, err
	}
	files := make([]content.File, 0, len(c.files))
	for _, file := range c.files {
		files = append(files, content.File{Name: path.Join("charts", name, file.Name), Data: file.Data})
	}
	return files, nil
}
