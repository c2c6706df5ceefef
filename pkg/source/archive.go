package source

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

var gzipMagic = []byte{0x1f, 0x8b}

// fromArchive fetches an archive over HTTP.
func (c *Charts) fromArchive(ctx context.Context, a access, where location) (fetched, error) {
	data, err := c.get(ctx, a, a.grant(where.names()...), where.url, c.limits.archive)
	if err != nil {
		return fetched{}, err
	}
	if err := checkSum(data, where.checksum); err != nil {
		return fetched{}, err
	}
	files, err := unpack(data, c.limits)
	if err != nil {
		return fetched{}, err
	}
	if files = below(where.subdir, files); len(files) == 0 {
		return fetched{}, fmt.Errorf("the archive has no file in its directory %q", where.subdir)
	}
	return fetched{archive: data, files: files}, nil
}

// Unpack implements bundle.Charts. It keeps to the limits of an archive that was fetched.
func (c *Charts) Unpack(archive []byte) ([]content.File, error) {
	if int64(len(archive)) > c.limits.archive {
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d are unpacked", ErrTooLarge, len(archive), c.limits.archive)
	}
	return unpack(archive, c.limits)
}

// checkSum compares an archive with what its URL says of it.
func checkSum(data []byte, want string) error {
	kind, want, asked := strings.Cut(want, ":")
	if !asked {
		return nil
	}
	var got string
	if kind == "sha512" {
		got = fmt.Sprintf("%x", sha512.Sum512(data))
	} else {
		got = fmt.Sprintf("%x", sha256.Sum256(data))
	}
	if !strings.EqualFold(got, want) {
		return fmt.Errorf("the archive has the checksum %s:%s, the URL says %s", kind, got, want)
	}
	return nil
}

// below are the files of a directory, named from there on.
func below(dir string, files []content.File) []content.File {
	if dir == "" {
		return files
	}
	var out []content.File
	for _, f := range files {
		if name, ok := strings.CutPrefix(f.Name, dir+"/"); ok {
			out = append(out, content.File{Name: name, Data: f.Data})
		}
	}
	return out
}

// unpack returns the files of a tar archive, with gzip or without, in the order of their
// names. Symbolic links become the files that they lead to. Hidden files are left out.
func unpack(data []byte, l limits) ([]content.File, error) {
	var r io.Reader = bytes.NewReader(data)
	if bytes.HasPrefix(data, gzipMagic) {
		unzipped, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("the archive is no gzip: %w", err)
		}
		r = unzipped
	}
	// What stands between the files is bounded as well.
	r = newBounded(r, l.unpacked+int64(l.files)*4096, "what it unpacks to")
	t := newTree(l)
	for archive := tar.NewReader(r); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return t.list()
		}
		if errors.Is(err, ErrTooLarge) {
			return nil, err
		}
		if err != nil {
			return nil, fmt.Errorf("it is no tar archive, with gzip (.tgz) or without: %w", err)
		}
		if err := t.add(header, archive); err != nil {
			return nil, err
		}
	}
}

// tree collects the files of an archive or of a commit.
type tree struct {
	limits limits
	left   int64
	files  map[string][]byte
	links  map[string]string
}

func newTree(l limits) *tree {
	return &tree{limits: l, left: l.unpacked, files: map[string][]byte{}, links: map[string]string{}}
}

func (t *tree) add(h *tar.Header, r io.Reader) error {
	switch h.Typeflag {
	case tar.TypeDir, tar.TypeXGlobalHeader:
		return nil
	case tar.TypeReg:
		return t.file(h.Name, r)
	case tar.TypeSymlink:
		return t.link(h.Name, h.Linkname)
	default:
		return fmt.Errorf("%w: the archive has %q, which is neither a file nor a directory nor a symbolic link", ErrUnsafe, h.Name)
	}
}

func (t *tree) file(name string, r io.Reader) error {
	name, err := t.name(name)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(r, t.left+1))
	if err != nil {
		return fmt.Errorf("read %q: %w", name, err)
	}
	if t.left -= int64(len(data)); t.left < 0 {
		return tooLarge("what is in it", t.limits.unpacked)
	}
	delete(t.links, name)
	t.files[name] = data
	return nil
}

func (t *tree) link(name, to string) error {
	name, err := t.name(name)
	if err != nil {
		return err
	}
	delete(t.files, name)
	t.links[name] = to
	return nil
}

// name is a clean one, and counted.
func (t *tree) name(name string) (string, error) {
	if len(t.files)+len(t.links) >= t.limits.files {
		return "", fmt.Errorf("%w: it has more than %d files, which is the limit", ErrTooLarge, t.limits.files)
	}
	return cleanName(name)
}

// cleanName refuses names that lead elsewhere, on whatever system they are used.
func cleanName(name string) (string, error) {
	clean := path.Clean(name)
	drive := len(name) > 1 && name[1] == ':'
	if path.IsAbs(name) || drive || strings.ContainsAny(name, "\\\x00") || clean == "." || slices.Contains(strings.Split(name, "/"), "..") {
		return "", fmt.Errorf("%w: the name %q is absolute, leads out of its directory, or is none of a file", ErrUnsafe, name)
	}
	return clean, nil
}

// list is the files in the order of their names.
func (t *tree) list() ([]content.File, error) {
	var out []content.File
	for name, data := range t.files {
		out = append(out, content.File{Name: name, Data: data})
	}
	for name := range t.links {
		data, err := t.follow(name)
		if err != nil {
			return nil, err
		}
		if t.left -= int64(len(data)); t.left < 0 {
			return nil, tooLarge("what is in it", t.limits.unpacked)
		}
		out = append(out, content.File{Name: name, Data: data})
	}
	out = slices.DeleteFunc(out, func(f content.File) bool { return hidden(f.Name) })
	slices.SortFunc(out, func(a, b content.File) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// follow reads what a link leads to, through other links as well.
func (t *tree) follow(name string) ([]byte, error) {
	at := name
	for range 40 {
		to, ok := t.links[at]
		if !ok {
			break
		}
		next := path.Join(path.Dir(at), to)
		if path.IsAbs(to) || next == ".." || strings.HasPrefix(next, "../") {
			return nil, fmt.Errorf("%w: the symbolic link %q leads out, to %q", ErrUnsafe, name, to)
		}
		at = next
	}
	data, ok := t.files[at]
	if !ok {
		return nil, fmt.Errorf("the symbolic link %q leads to %q, which is no file of it", name, t.links[name])
	}
	return data, nil
}

func hidden(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
}

// hasChart says whether files are a chart, or one in a directory of its own.
func hasChart(files []content.File) bool {
	return slices.ContainsFunc(files, func(f content.File) bool {
		dir, base := path.Split(f.Name)
		return base == "Chart.yaml" && strings.Count(dir, "/") <= 1
	})
}
