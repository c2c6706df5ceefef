package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"syscall"
)

// folder is an open directory that nothing below it can be left of: not by a symlink, not
// by "..", and not by somebody who changes the tree at the same time.
type folder struct {
	root *os.Root
	// shown is its path for people.
	shown  string
	budget *budget
}

func openFolder(name string, b *budget) (*folder, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, fmt.Errorf("open the directory to read from: %w", err)
	}
	return &folder{root: root, shown: ".", budget: b}, nil
}

// sub opens a directory of it as a folder of its own.
func (f *folder) sub(name string) (*folder, error) {
	root, err := f.root.OpenRoot(name)
	if err != nil {
		return nil, f.explain(name, err)
	}
	return &folder{root: root, shown: f.show(name), budget: f.budget}, nil
}

func (f *folder) close() { f.root.Close() }

// show is the path of a file in it, for people.
func (f *folder) show(name string) string { return path.Join(f.shown, name) }

// isDir follows symlinks. Nothing there is no error.
func (f *folder) isDir(name string) (bool, error) {
	info, err := f.root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, f.explain(name, err)
	}
	return info.IsDir(), nil
}

// list returns what is in a directory in the order of names, and the directory itself.
func (f *folder) list(dir string) ([]fs.DirEntry, fs.FileInfo, error) {
	open, err := f.root.Open(dir)
	if err != nil {
		return nil, nil, f.explain(dir, err)
	}
	defer open.Close()
	info, err := open.Stat()
	if err != nil {
		return nil, nil, f.explain(dir, err)
	}
	var all []fs.DirEntry
	for {
		const some = 1000
		entries, err := open.ReadDir(some)
		if tooMany := f.budget.take(len(entries)); tooMany != nil {
			return nil, nil, fmt.Errorf("%s: %w", f.show(dir), tooMany)
		}
		all = append(all, entries...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, f.explain(dir, err)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name() < all[j].Name() })
	return all, info, nil
}

// read returns a regular file of at most limit bytes. Anything else is an error before it
// is opened: a pipe would block for ever.
func (f *folder) read(name string, limit int) ([]byte, error) {
	info, err := f.root.Stat(name)
	if err != nil {
		return nil, f.explain(name, err)
	}
	if err := f.regular(name, info); err != nil {
		return nil, err
	}
	// Whoever puts a pipe in its place now does not block the open either.
	open, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, f.explain(name, err)
	}
	defer open.Close()
	if info, err = open.Stat(); err != nil {
		return nil, f.explain(name, err)
	}
	if err := f.regular(name, info); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(open, int64(limit)+1))
	if err != nil {
		return nil, f.explain(name, err)
	}
	if len(data) > limit {
		return nil, fmt.Errorf("%s: %w: it has more than %s", f.show(name), ErrTooLarge, size(limit))
	}
	if err := f.budget.read(len(data)); err != nil {
		return nil, fmt.Errorf("%s: %w", f.show(name), err)
	}
	return data, nil
}

func (f *folder) regular(name string, info fs.FileInfo) error {
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.IsDir():
		return fmt.Errorf("%s: it is a directory, where a file is needed", f.show(name))
	}
	return fmt.Errorf("%s: it is neither a file nor a directory; remove it, or leave it out with .fleetignore", f.show(name))
}

// explain makes an error of the file system one that says what to do.
func (f *folder) explain(name string, err error) error {
	shown := f.show(name)
	link, linkErr := f.root.Readlink(name)
	isLink := linkErr == nil
	switch {
	case errors.Is(err, fs.ErrNotExist) && isLink:
		return fmt.Errorf("%s: it is a symlink to %q, where nothing is: %w", shown, link, fs.ErrNotExist)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", shown, fs.ErrNotExist)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w", shown, fs.ErrPermission)
	case errors.Is(err, syscall.ELOOP):
		return fmt.Errorf("%s: its symlinks lead in a circle, or through too many others", shown)
	case isLink:
		return fmt.Errorf("%s: it is a symlink to %q, which %w %s; use a relative link to something in it, or a copy",
			shown, link, ErrOutside, f.shown)
	case escapes(err):
		return fmt.Errorf("%s: %w %s; everything that is read must be in it", shown, ErrOutside, f.shown)
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("%s: %w", shown, err)
}

// escapes says that os.Root refused a path. Its error has no type; this is the one place
// that knows the text, and a test has each way to get it.
func escapes(err error) bool {
	var pathErr *fs.PathError
	return errors.As(err, &pathErr) && pathErr.Err != nil && pathErr.Err.Error() == "path escapes from parent"
}
