package content

import (
	"compress/gzip"
	"encoding/base64"
	"fmt"

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
