package content

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

// MaxSize is the largest uncompressed document, and the largest sum of decoded
// files, in bytes.
const MaxSize = 32 << 20

const (
	namePrefix = "s-"
	// nameDigits of the hash fit beside the prefix into 63 characters.
	nameDigits = 61
)

var (
	// ErrTooLarge is returned for content that is larger than MaxSize once
	// uncompressed.
	ErrTooLarge = errors.New("content is too large")
	// ErrMismatch is returned for content whose hash is not the one in its name.
	ErrMismatch = errors.New("content does not have the hash that its name says")
	// ErrMalformed is returned for content that is no gzip of a canonical document,
	// and for resources that cannot be decoded.
	ErrMalformed = errors.New("content is malformed")
)

type resource struct {
	Name     string `json:"name"`
	Content  string `json:"content"`
	Encoding string `json:"encoding"`
}

type document struct {
	Resources []resource `json:"resources"`
}

// Pack returns the content of resources in any order: its name ("s-" and the
// first 61 hex digits of the SHA-256), the gzip of its canonical JSON, and the
// whole SHA-256 of the uncompressed JSON in hex. Equal resources give equal
// names. Two resources of one name, one without a name, one that cannot be decoded and
// more than MaxSize bytes, encoded or decoded, are errors.
func Pack(resources []fleet.BundleResource) (name string, gz []byte, sum string, err error) {
	doc := document{Resources: make([]resource, 0, len(resources))}
	for _, r := range resources {
		doc.Resources = append(doc.Resources, resource{Name: r.Name, Content: r.Content, Encoding: r.Encoding})
	}
	sort.Slice(doc.Resources, func(i, j int) bool { return doc.Resources[i].Name < doc.Resources[j].Name })
	if err := checkNames(doc.Resources); err != nil {
		return "", nil, "", err
	}
	if err := check(resources); err != nil {
		return "", nil, "", err
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return "", nil, "", fmt.Errorf("encode content: %w", err)
	}
	if len(raw) > MaxSize {
		return "", nil, "", fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(raw), MaxSize)
	}
	gz, err = compress(raw, gzip.BestCompression)
	if err != nil {
		return "", nil, "", err
	}
	sum = hash(raw)
	return Name(sum), gz, sum, nil
}

// Unpack returns the resources of a content after it has verified that the hash
// in name is the one of the uncompressed JSON. It reads at most MaxSize bytes.
// Errors: ErrTooLarge, ErrMismatch, ErrMalformed.
func Unpack(name string, gz []byte) ([]fleet.BundleResource, error) {
	raw, err := expand(gz, MaxSize)
	if err != nil {
		return nil, fmt.Errorf("content %s: %w", name, err)
	}
	if got := Name(hash(raw)); got != name {
		return nil, fmt.Errorf("content %s: %w, but %s", name, ErrMismatch, got)
	}
	var doc document
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("content %s: %w: %w", name, ErrMalformed, err)
	}
	if err := checkNames(doc.Resources); err != nil {
		return nil, fmt.Errorf("content %s: %w", name, err)
	}
	out := make([]fleet.BundleResource, 0, len(doc.Resources))
	for _, r := range doc.Resources {
		out = append(out, fleet.BundleResource{Name: r.Name, Content: r.Content, Encoding: r.Encoding})
	}
	return out, nil
}

// Name is the name of the content whose uncompressed JSON has this SHA-256 in hex.
func Name(sum string) string {
	return namePrefix + sum[:min(nameDigits, len(sum))]
}

func checkNames(sorted []resource) error {
	for i, r := range sorted {
		if r.Name == "" {
			return fmt.Errorf("%w: resource %d has no name", ErrMalformed, i)
		}
		if i > 0 && sorted[i-1].Name == r.Name {
			return fmt.Errorf("%w: resource %q stands twice", ErrMalformed, r.Name)
		}
	}
	return nil
}

func hash(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

func compress(raw []byte, level int) ([]byte, error) {
	var buf bytes.Buffer
	// The header stays empty, without time or file name: equal input, equal bytes.
	w, err := gzip.NewWriterLevel(&buf, level)
	if err != nil {
		return nil, fmt.Errorf("compress content: %w", err)
	}
	if _, err := w.Write(raw); err != nil {
		return nil, fmt.Errorf("compress content: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress content: %w", err)
	}
	return buf.Bytes(), nil
}

func expand(gz []byte, limit int) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	raw, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if len(raw) > limit {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	return raw, nil
}
