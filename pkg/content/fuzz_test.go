package content

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

// Whatever stands in a resource: it is decoded to no more than the limit, or refused for
// one of the reasons that are there.
func FuzzGzip(f *testing.F) {
	const limit = 1 << 16
	for _, data := range []string{"", "x", strings.Repeat("x", limit), strings.Repeat("x", limit+1), strings.Repeat("\x00", 64*limit)} {
		gz, err := compress([]byte(data), gzip.BestCompression)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(gz)
		f.Add(append(bytes.Clone(gz), gz...))
		f.Add(gz[:len(gz)/2])
	}
	f.Fuzz(func(t *testing.T, gz []byte) {
		resource := fleet.BundleResource{Name: "x", Encoding: encodingGzip, Content: base64.StdEncoding.EncodeToString(gz)}
		data, err := decode(resource, limit)
		switch {
		case err == nil && len(data) > limit:
			t.Fatalf("%d bytes, limit %d", len(data), limit)
		case err != nil && !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrMalformed):
			t.Fatal(err)
		}
		if _, err := Unpack("s-x", gz); err == nil {
			t.Fatal("content without its hash was taken")
		}
		if _, err := Files([]fleet.BundleResource{resource, resource}); err != nil && !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrMalformed) {
			t.Fatal(err)
		}
	})
}

func FuzzBase64(f *testing.F) {
	f.Add("H4sIAAAAAAAA", "base64+gz")
	f.Add("x", "zip")
	f.Fuzz(func(t *testing.T, text, encoding string) {
		if _, err := Decode(fleet.BundleResource{Name: "x", Content: text, Encoding: encoding}); err != nil &&
			!errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrMalformed) {
			t.Fatal(err)
		}
	})
}
