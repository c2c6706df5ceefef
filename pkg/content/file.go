package content

import (
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

// encodingGzip is Fleet's name for the base64 of a gzip.
const encodingGzip = "base64+gz"

// File is one decoded resource.
type File struct {
	// Name is the path inside the bundle, with slashes.
	Name string
	Data []byte
}

// Encode makes a resource of a file, as base64 of gzip: for what is no text, and for what
// is large. Equal files give equal resources.
func Encode(f File) (fleet.BundleResource, error) {
	// As Fleet's command line compresses. What is stored in the bundle is what a revision
	// is the hash of: the same files, written by the other command line, redeploy nothing.
	gz, err := compress(f.Data, gzip.DefaultCompression)
	if err != nil {
		return fleet.BundleResource{}, fmt.Errorf("resource %q: %w", f.Name, err)
	}
	return fleet.BundleResource{Name: f.Name, Content: base64.StdEncoding.EncodeToString(gz), Encoding: encodingGzip}, nil
}

// Decode returns the bytes of one resource, at most MaxSize. Errors:
// ErrTooLarge, and ErrMalformed for an unknown encoding too.
func Decode(r fleet.BundleResource) ([]byte, error) {
	return decode(r, MaxSize)
}

// Files decodes all resources, in their order. All files together may have
// MaxSize bytes, so that many small bombs are caught as one large one is.
func Files(resources []fleet.BundleResource) ([]File, error) {
	left := MaxSize
	out := make([]File, 0, len(resources))
	for _, r := range resources {
		data, err := decode(r, left)
		if err != nil {
			return nil, err
		}
		left -= len(data)
		out = append(out, File{Name: r.Name, Data: data})
	}
	return out, nil
}

// check refuses resources that no agent would decode, without keeping what they decode to.
func check(resources []fleet.BundleResource) error {
	left := int64(MaxSize)
	for _, r := range resources {
		size := int64(len(r.Content))
		if r.Encoding == encodingGzip {
			var err error
			if size, err = decodedSize(r, left); err != nil {
				return err
			}
		}
		if left -= size; left < 0 {
			return fmt.Errorf("resource %q: %w: the files have more than %d bytes together", r.Name, ErrTooLarge, MaxSize)
		}
	}
	return nil
}

// decodedSize stops a little above limit.
func decodedSize(r fleet.BundleResource, limit int64) (int64, error) {
	unzipped, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(r.Content)))
	if err != nil {
		return 0, fmt.Errorf("resource %q: %w: %w", r.Name, ErrMalformed, err)
	}
	size, err := io.Copy(io.Discard, io.LimitReader(unzipped, limit+1))
	if err != nil {
		return 0, fmt.Errorf("resource %q: %w: %w", r.Name, ErrMalformed, err)
	}
	return size, nil
}

func decode(r fleet.BundleResource, limit int) ([]byte, error) {
	switch r.Encoding {
	case "":
		if len(r.Content) > limit {
			return nil, fmt.Errorf("resource %q: %w", r.Name, ErrTooLarge)
		}
		return []byte(r.Content), nil
	case encodingGzip:
		gz, err := base64.StdEncoding.DecodeString(r.Content)
		if err != nil {
			return nil, fmt.Errorf("resource %q: %w: %w", r.Name, ErrMalformed, err)
		}
		data, err := expand(gz, limit)
		if err != nil {
			return nil, fmt.Errorf("resource %q: %w", r.Name, err)
		}
		return data, nil
	}
	return nil, fmt.Errorf("resource %q: %w: unknown encoding %q, use none or %q", r.Name, ErrMalformed, r.Encoding, encodingGzip)
}
