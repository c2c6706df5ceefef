package bundle

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

// chartFile makes a directory a chart.
const chartFile = "Chart.yaml"

// collector gathers the files of a directory and of those below it.
type collector struct {
	*folder
	ctx context.Context
	// skip are files that are no resources, by their paths: the options and the values.
	skip map[string]bool

	files []content.File
	bytes int
	links int
	// charts are the directories that are charts.
	charts []string
}

// collect returns the files in the order of their paths: not those that are hidden,
// ignored, or to skip. Symlinks are followed.
//
// Fleet leaves out too what has the name of a values file without its directory; here
// only the values files themselves are left out.
func collect(ctx context.Context, f *folder, skip map[string]bool) (*collector, error) {
	c := &collector{folder: f, ctx: ctx, skip: skip}
	if err := c.directory(".", nil, nil); err != nil {
		return nil, err
	}
	slices.SortFunc(c.files, byName)
	return c, nil
}

// directory takes what is in it. above are the directories that it is in, of which none
// may come again, and rules those of their .fleetignore files.
func (c *collector) directory(dir string, above []fs.FileInfo, rules []ignoreRule) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if len(above) > MaxDepth {
		return tooDeep(c.show(dir))
	}
	entries, info, err := c.list(dir)
	if err != nil {
		return err
	}
	for _, a := range above {
		if os.SameFile(a, info) {
			return fmt.Errorf("%s: its symlinks lead in a circle, to a directory that it is in; remove the link", c.show(dir))
		}
	}
	above = append(slices.Clone(above), info)
	own, err := c.readIgnore(dir)
	if err != nil {
		return err
	}
	rules = append(slices.Clone(rules), own...)
	for _, e := range entries {
		if err := c.entry(dir, e, above, rules); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) entry(dir string, e fs.DirEntry, above []fs.FileInfo, rules []ignoreRule) error {
	name := path.Join(dir, e.Name())
	if hidden(e.Name()) || c.skip[name] {
		return nil
	}
	isDir := e.IsDir()
	if e.Type()&fs.ModeSymlink != 0 {
		// A link that is left out anyway may lead anywhere.
		if ignored(rules, e.Name(), false) {
			return nil
		}
		var err error
		if isDir, err = c.follow(name); err != nil {
			return err
		}
	}
	if ignored(rules, e.Name(), isDir) {
		return nil
	}
	if isDir {
		return c.directory(name, above, rules)
	}
	if e.Name() == chartFile {
		c.charts = append(c.charts, dir)
	}
	return c.file(name)
}

// follow says whether a symlink leads to a directory.
func (c *collector) follow(name string) (bool, error) {
	info, err := c.root.Stat(name)
	if err != nil {
		return false, c.explain(name, err)
	}
	if !info.IsDir() {
		return false, nil
	}
	c.links++
	if c.links > MaxLinks {
		return false, fmt.Errorf("%s: %w: more than %d symlinks to directories are followed; remove some of them", c.show(name), ErrTooLarge, MaxLinks)
	}
	return true, nil
}

func (c *collector) file(name string) error {
	if len(c.files) >= MaxFiles {
		return tooManyFiles(c.shown)
	}
	data, err := c.read(name, MaxFile)
	if err != nil {
		return err
	}
	c.bytes += len(data)
	if c.bytes > MaxRead {
		return tooMuch(c.shown, append(c.files, content.File{Name: name, Data: data}))
	}
	c.files = append(c.files, content.File{Name: name, Data: data})
	return nil
}

func byName(a, b content.File) int {
	switch {
	case a.Name < b.Name:
		return -1
	case a.Name > b.Name:
		return 1
	}
	return 0
}

// under returns the files of a directory, named by their paths inside of it.
func under(files []content.File, dir string) []content.File {
	if dir == "." {
		return files
	}
	var out []content.File
	for _, f := range files {
		if rest, ok := cutDir(f.Name, dir); ok {
			out = append(out, content.File{Name: rest, Data: f.Data})
		}
	}
	return out
}

func cutDir(name, dir string) (string, bool) {
	if len(name) > len(dir) && name[:len(dir)] == dir && name[len(dir)] == '/' {
		return name[len(dir)+1:], true
	}
	return "", false
}
