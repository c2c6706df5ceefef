package bundle

import (
	"errors"
	"fmt"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

// What is read may come from anybody who can push to a repository. These bounds are far
// from what directories of manifests need.
const (
	// MaxOptions is the largest fleet.yaml, options, values, targets or .fleetignore file,
	// in bytes. Values end up in a Secret, which holds no more.
	MaxOptions = 1 << 20
	// MaxFile is the largest single file of a bundle, in bytes.
	MaxFile = 16 << 20
	// MaxFiles of one bundle, those of its charts included.
	MaxFiles = 10_000
	// MaxRead is what the files of one bundle may have together, in bytes; an agent
	// unpacks no more.
	MaxRead = content.MaxSize
	// MaxReadAll is what the files of all bundles of one Read may have together, in bytes.
	MaxReadAll = 256 << 20
	// MaxEntries is how many files and directories one Read looks at, again for each bundle
	// that they are in.
	MaxEntries = 500_000
	// MaxLinks is how many symlinks to directories one bundle follows: a few that lead to
	// one another multiply what is below them.
	MaxLinks = 1_000
	// MaxDepth is how many directories can stand in one another.
	MaxDepth = 64
	// MaxBundles of one Read.
	MaxBundles = 5_000
)

var (
	// ErrTooLarge says that a bundle does not fit where it must go, or that there is more
	// to read than the bounds allow.
	ErrTooLarge = errors.New("too large")
	// ErrOutside says that a path leads out of the directory that it must stay in.
	ErrOutside = errors.New("leads out of the directory")
)

// budget is what one Read may still look at.
type budget struct {
	entries int
	bytes   int64
}

func newBudget() *budget {
	return &budget{entries: MaxEntries, bytes: MaxReadAll}
}

// take counts entries of a directory.
func (b *budget) take(entries int) error {
	b.entries -= entries
	if b.entries < 0 {
		return fmt.Errorf("%w: more than %d files and directories; name fewer paths", ErrTooLarge, MaxEntries)
	}
	return nil
}

// read counts bytes of a file.
func (b *budget) read(bytes int) error {
	b.bytes -= int64(bytes)
	if b.bytes < 0 {
		return fmt.Errorf("%w: the files of all bundles have more than %s; name fewer paths", ErrTooLarge, size(MaxReadAll))
	}
	return nil
}

// size writes a number of bytes for people.
func size(bytes int) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	case bytes >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", bytes)
}
