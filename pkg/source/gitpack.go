package source

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

// maxLink is how long the target of a symbolic link can be, as on Linux.
const maxLink = 4096

// download puts what a server sends into dir, once it is known not to be a bomb.
func download(ctx context.Context, s session, request *packp.UploadPackRequest, dir string, l limits) error {
	response, err := s.UploadPack(ctx, request)
	if err != nil {
		return err
	}
	defer response.Close()
	file, err := os.Create(filepath.Join(dir, "received.pack"))
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := io.Copy(file, newBounded(response, l.pack, "what git sent")); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := checkPack(file, l); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return packfile.UpdateObjectStorage(objects(dir), file)
}

func objects(dir string) *filesystem.Storage {
	return filesystem.NewStorage(osfs.New(filepath.Join(dir, "git")), cache.NewObjectLRU(32*cache.MiByte))
}

// checkPack sums the objects of a pack up, without keeping them: those that are there
// whole, those that are differences, and what the differences claim to lead to.
func checkPack(r io.Reader, l limits) error {
	scanner := packfile.NewScanner(bufio.NewReader(r))
	_, count, err := scanner.Header()
	if err != nil {
		return fmt.Errorf("what git sent is no pack: %w", err)
	}
	left := l.inflated
	for range count {
		header, err := scanner.NextObjectHeader()
		if err != nil {
			return fmt.Errorf("what git sent is no whole pack: %w", err)
		}
		w := &weigher{left: &left, limit: l.inflated}
		if _, _, err := scanner.NextObject(w); err != nil {
			return fmt.Errorf("what git sent: %w", err)
		}
		if !header.Type.IsDelta() {
			continue
		}
		if left -= w.target(); left < 0 {
			return tooLarge("what git sent", l.inflated)
		}
	}
	return nil
}

// weigher counts what is written to it, and keeps where a difference has its sizes.
type weigher struct {
	left  *int64
	limit int64
	head  []byte
}

func (w *weigher) Write(p []byte) (int, error) {
	if *w.left -= int64(len(p)); *w.left < 0 {
		return 0, tooLarge("what git sent", w.limit)
	}
	if room := 2*binary.MaxVarintLen64 - len(w.head); room > 0 {
		w.head = append(w.head, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// target is the size of what a difference leads to: its second number. One that cannot be
// read is as good as infinite.
func (w *weigher) target() int64 {
	_, n := binary.Uvarint(w.head)
	if n <= 0 {
		return w.limit + 1
	}
	size, m := binary.Uvarint(w.head[n:])
	if m <= 0 || size > uint64(w.limit) {
		return w.limit + 1
	}
	return int64(size)
}

// checkout returns the files of a directory of a commit.
func checkout(ctx context.Context, dir string, want plumbing.Hash, subdir string, l limits) ([]content.File, error) {
	storage := objects(dir)
	defer storage.Close()
	root, err := treeOf(storage, want)
	if err != nil {
		return nil, fmt.Errorf("the commit is not among what git sent: %w", err)
	}
	if subdir != "" {
		if root, err = root.Tree(subdir); err != nil {
			return nil, fmt.Errorf("the commit has no directory %q", subdir)
		}
	}
	out := newTree(l)
	walker := object.NewTreeWalker(root, true, nil)
	defer walker.Close()
	// Directories are counted too: a few objects can make an endless number of them.
	for range 2 * l.files {
		name, entry, err := walker.Next()
		if errors.Is(err, io.EOF) {
			return out.list()
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = out.addBlob(storage, name, entry)
		}
		if err != nil {
			return nil, fmt.Errorf("read %q of the commit: %w", name, err)
		}
	}
	return nil, fmt.Errorf("%w: the commit has more than %d files and directories, which is the limit", ErrTooLarge, 2*l.files)
}

// treeOf is the tree of a commit, or of one that a tag names.
func treeOf(storage *filesystem.Storage, hash plumbing.Hash) (*object.Tree, error) {
	// A tag can name a tag; Git itself makes none that is deep.
	for range 8 {
		tag, err := object.GetTag(storage, hash)
		if err != nil {
			break
		}
		hash = tag.Target
	}
	commit, err := object.GetCommit(storage, hash)
	if err != nil {
		return nil, err
	}
	return commit.Tree()
}

func (t *tree) addBlob(storage *filesystem.Storage, name string, entry object.TreeEntry) error {
	// What a submodule is, is in another repository: it stays empty, as in a clone.
	if entry.Mode == filemode.Dir || entry.Mode == filemode.Submodule || hidden(name) {
		return nil
	}
	blob, err := object.GetBlob(storage, entry.Hash)
	if err != nil {
		return err
	}
	r, err := blob.Reader()
	if err != nil {
		return err
	}
	defer r.Close()
	if entry.Mode != filemode.Symlink {
		return t.file(name, r)
	}
	to, err := readAll(r, maxLink, "a symbolic link")
	if err != nil {
		return err
	}
	return t.link(name, string(to))
}
