package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// optionsFiles are the names that options have, the first one found counts.
var optionsFiles = []string{"fleet.yaml", "fleet.yml"}

// separators of a directory and its options file, in the order in which they are tried.
const separators = ":,|?<>"

// place is what becomes one bundle.
type place struct {
	// dir below the root, "." for the root.
	dir string
	// options is the file that a driven scan named, by its path inside of dir.
	options string
}

// String is the place for people.
func (p place) String() string {
	if p.options == "" {
		return p.dir
	}
	return p.dir + " with " + p.options
}

// Separator returns the first of ":,|?<>" that none of these paths has: for
// DrivenSeparator, of paths that people wrote.
func Separator(paths ...string) (string, error) {
	for _, s := range separators {
		if !strings.ContainsRune(strings.Join(paths, ""), s) {
			return string(s), nil
		}
	}
	return "", fmt.Errorf("all of %s stand in the paths of the bundles, and one is needed to separate a directory from its options file", separators)
}

// places returns each directory that becomes a bundle once, whichever paths lead to it.
func (r *reader) places(ctx context.Context) ([]place, error) {
	paths := r.request.Paths
	if len(paths) == 0 {
		paths = []string{"."}
	}
	find := r.scanned
	if r.request.Driven {
		find = r.driven
	}
	var all []place
	known := map[place]bool{}
	for _, p := range paths {
		found, err := find(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if !known[f] {
				known[f] = true
				all = append(all, f)
			}
		}
		if len(all) > MaxBundles {
			return nil, fmt.Errorf("%w: more than %d directories become bundles; name fewer paths", ErrTooLarge, MaxBundles)
		}
	}
	return all, nil
}

// driven takes a path as it is.
func (r *reader) driven(_ context.Context, written string) ([]place, error) {
	separator := r.request.DrivenSeparator
	if separator == "" {
		separator = separators[:1]
	}
	parts := strings.Split(written, separator)
	if len(parts) > 2 {
		return nil, fmt.Errorf("path %q: it has %q more than once; write DIRECTORY%sFILE, or choose another separator", written, separator, separator)
	}
	dir, err := below(parts[0])
	if err != nil {
		return nil, err
	}
	isDir, err := r.root.isDir(dir)
	if err != nil {
		return nil, err
	}
	if !isDir {
		return nil, noDirectory(written)
	}
	found := place{dir: dir}
	if len(parts) == 2 && parts[1] != "" {
		found.options, err = inside(parts[1])
		if err != nil {
			return nil, fmt.Errorf("path %q: options file: %w", written, err)
		}
	}
	return []place{found}, nil
}

// scanned looks for bundles in the directories that a path or glob names.
func (r *reader) scanned(ctx context.Context, written string) ([]place, error) {
	bases, err := r.glob(written)
	if err != nil {
		return nil, err
	}
	var all []place
	for _, base := range bases {
		s := scan{folder: r.root, ctx: ctx}
		resources, own, err := s.directory(base, 0)
		if err != nil {
			return nil, err
		}
		if own || resources {
			all = append(all, place{dir: base})
		}
		all = append(all, s.found...)
	}
	return all, nil
}

// glob returns the directories that a path names: itself, if there is one of that name.
func (r *reader) glob(written string) ([]string, error) {
	dir, err := below(written)
	if err != nil {
		return nil, err
	}
	isDir, err := r.root.isDir(dir)
	if err != nil {
		return nil, err
	}
	if isDir {
		return []string{dir}, nil
	}
	matches, err := fs.Glob(r.root.root.FS(), dir)
	if err != nil {
		return nil, fmt.Errorf("path %q: it is no pattern: %w", written, err)
	}
	var dirs []string
	for _, match := range matches {
		isDir, err := r.root.isDir(match)
		if err != nil {
			return nil, err
		}
		if isDir {
			dirs = append(dirs, match)
		}
	}
	if len(dirs) == 0 {
		return nil, noDirectory(written)
	}
	return dirs, nil
}

func noDirectory(written string) error {
	return fmt.Errorf("path %q: no directory is there; paths are relative to the directory that is read, and can be globs", written)
}

// below cleans a path that must stay below the root. Fleet takes slashes at its beginning
// for the root itself, so that a path means the same wherever a repository lies.
func below(written string) (string, error) {
	clean := path.Clean(strings.TrimLeft(written, "/"))
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("path %q %w that is read; name a directory in it, or read from a directory above", written, ErrOutside)
	}
	return clean, nil
}

// inside cleans a path that people wrote in options and that must stay in the directory of
// the bundle.
func inside(written string) (string, error) {
	clean := path.Clean(written)
	if path.IsAbs(written) || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("%q %w of the bundle; put the file in it, and write its path relative to it", written, ErrOutside)
	}
	return clean, nil
}

// scan finds the directories below one that have options of their own. It does not
// follow symlinks: what they lead to is found where it is.
type scan struct {
	*folder
	ctx   context.Context
	found []place
}

// directory says whether there is YAML in it, or below it and not in a bundle of its own,
// and whether it has options itself.
func (s *scan) directory(dir string, depth int) (resources, options bool, err error) {
	if err := s.ctx.Err(); err != nil {
		return false, false, err
	}
	if depth > MaxDepth {
		return false, false, tooDeep(s.show(dir))
	}
	entries, _, err := s.list(dir)
	if err != nil {
		return false, false, err
	}
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() {
			options = options || name == optionsFiles[0] || name == optionsFiles[1]
			resources = resources || path.Ext(name) == ".yaml" || path.Ext(name) == ".yml"
			continue
		}
		if name == ".git" {
			continue
		}
		sub := path.Join(dir, name)
		below, own, err := s.directory(sub, depth+1)
		if err != nil {
			return false, false, err
		}
		switch {
		case !own:
			resources = resources || below
		case !hidden(name):
			s.found = append(s.found, place{dir: sub})
		}
	}
	return resources, options, nil
}

func tooDeep(shown string) error {
	return fmt.Errorf("%s: %w: more than %d directories stand in one another", shown, ErrTooLarge, MaxDepth)
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") && name != "." }

// optionsOf returns the options file of a place and its content; no name where there is
// none.
func (p place) optionsOf(f *folder) (name string, data []byte, err error) {
	if p.options != "" {
		data, err = f.read(p.options, MaxOptions)
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil, fmt.Errorf("%w; the path names it as the options file", err)
		}
		return p.options, data, err
	}
	for _, name := range optionsFiles {
		if _, err := f.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		data, err = f.read(name, MaxOptions)
		return name, data, err
	}
	return "", nil, nil
}
