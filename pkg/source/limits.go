package source

import (
	"errors"
	"fmt"
	"io"
	"time"
)

var (
	// ErrTooLarge is returned for what is larger than a limit; the sentence states it.
	ErrTooLarge = errors.New("too large")
	// ErrUnsafe is returned for archives and trees that reach out of themselves.
	ErrUnsafe = errors.New("unsafe")
	// ErrUnsupported is returned for sources that are not fetched from.
	ErrUnsupported = errors.New("not supported")
)

const (
	mib            = 1 << 20
	defaultTimeout = 5 * time.Minute
	// silence is how long a server may take for the first byte of an answer.
	silence = time.Minute
)

// limits are in bytes, unless they say otherwise.
type limits struct {
	index int64
	// archive is one as it is downloaded, unpacked the sum of the files in it.
	archive, unpacked int64
	// files is their number, in an archive or a directory of git.
	files int
	// pack is what git sends for a commit, inflated the sum of all objects in it.
	pack, inflated int64
	// tags is how many a registry may list for one chart.
	tags int
}

var defaultLimits = limits{
	index:   32 * mib,
	archive: 20 * mib, unpacked: 50 * mib, files: 10_000,
	pack: 100 * mib, inflated: 300 * mib,
	tags: 20_000,
}

// readAll reads at most limit bytes; what is more is an error that names what it is.
func readAll(r io.Reader, limit int64, what string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(what, limit)
	}
	return data, nil
}

func tooLarge(what string, limit int64) error {
	if limit >= mib && limit%mib == 0 {
		return fmt.Errorf("%w: %s has more than %d MiB, which is the limit", ErrTooLarge, what, limit/mib)
	}
	return fmt.Errorf("%w: %s has more than %d bytes, which is the limit", ErrTooLarge, what, limit)
}

// bounded reads as long as there is something left to read.
type bounded struct {
	next        io.Reader
	left, limit int64
	what        string
}

func newBounded(r io.Reader, limit int64, what string) *bounded {
	return &bounded{next: r, left: limit, limit: limit, what: what}
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.next.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, tooLarge(b.what, b.limit)
	}
	return n, err
}
