package content

import (
	"compress/gzip"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"pgregory.net/rapid"
)

func files(nameAndContent ...string) []fleet.BundleResource {
	var out []fleet.BundleResource
	for i := 0; i < len(nameAndContent); i += 2 {
		out = append(out, fleet.BundleResource{Name: nameAndContent[i], Content: nameAndContent[i+1]})
	}
	return out
}

func gzipped(t *testing.T, data string) string {
	t.Helper()
	gz, err := compress([]byte(data), gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(gz)
}

func TestPackIsCanonical(t *testing.T) {
	name, gz, sum, err := Pack(files("b.yaml", "<b>", "a.yaml", "a"))
	if err != nil {
		t.Fatal(err)
	}
	other, otherGz, otherSum, err := Pack(files("a.yaml", "a", "b.yaml", "<b>"))
	if err != nil {
		t.Fatal(err)
	}
	if name != other || sum != otherSum || !cmp.Equal(gz, otherGz) {
		t.Errorf("the order of the resources changed the content: %s and %s", name, other)
	}
	if len(name) != 63 || name != "s-"+sum[:61] || len(sum) != 64 {
		t.Errorf("name %q of sum %q", name, sum)
	}
	// A name that changed here would make every cluster deploy again.
	if want := "s-28591d58de2694462ce3a756283a091df41335d6370ff6e67e0ecc3c07e35"; name != want {
		t.Errorf("name %q, want %q", name, want)
	}
	got, err := Unpack(name, gz)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files("a.yaml", "a", "b.yaml", "<b>"), got); diff != "" {
		t.Error(diff)
	}
}

func TestPackRefuses(t *testing.T) {
	packed := func(content string) fleet.BundleResource {
		return fleet.BundleResource{Name: content[:1], Content: content, Encoding: "base64+gz"}
	}
	half := gzipped(t, strings.Repeat("x", MaxSize/2+1))
	other := packed(half)
	other.Name = "other"
	tests := map[string]struct {
		resources []fleet.BundleResource
		want      error
	}{
		"a resource without a name": {files("", "x"), ErrMalformed},
		"one name twice":            {files("a", "x", "a", "y"), ErrMalformed},
		"more than the limit":       {files("a", strings.Repeat("x", MaxSize)), ErrTooLarge},
		"a bomb":                    {[]fleet.BundleResource{packed(gzipped(t, strings.Repeat("x", MaxSize+1)))}, ErrTooLarge},
		"two halves of a bomb":      {[]fleet.BundleResource{packed(half), other}, ErrTooLarge},
		"no base64":                 {[]fleet.BundleResource{packed("%")}, ErrMalformed},
		"no gzip":                   {[]fleet.BundleResource{packed("eHh4eHh4eHh4eHh4")}, ErrMalformed},
		"half of a gzip":            {[]fleet.BundleResource{packed(half[:len(half)/2])}, ErrMalformed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, _, _, err := Pack(tc.resources); !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
		})
	}
}

func TestUnpackRefuses(t *testing.T) {
	name, gz, _, err := Pack(files("a", "x"))
	if err != nil {
		t.Fatal(err)
	}
	bomb, err := compress(make([]byte, MaxSize+1), gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	noJSON, err := compress([]byte("no json"), gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		name string
		gz   []byte
		want error
	}{
		"another name":        {"s-" + strings.Repeat("0", 61), gz, ErrMismatch},
		"no gzip":             {name, []byte("plain"), ErrMalformed},
		"a cut gzip":          {name, gz[:len(gz)-5], ErrMalformed},
		"nothing":             {name, nil, ErrMalformed},
		"a bomb":              {name, bomb, ErrTooLarge},
		"right hash, no JSON": {Name(hash([]byte("no json"))), noJSON, ErrMalformed},
	}
	for what, tc := range tests {
		t.Run(what, func(t *testing.T) {
			if _, err := Unpack(tc.name, tc.gz); !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
		})
	}
}

func TestFiles(t *testing.T) {
	half := gzipped(t, strings.Repeat("x", MaxSize/2+1))
	tests := map[string]struct {
		resources []fleet.BundleResource
		want      []File
		wantErr   error
	}{
		"plain": {files("a", "x"), []File{{Name: "a", Data: []byte("x")}}, nil},
		"compressed": {
			[]fleet.BundleResource{{Name: "a", Content: gzipped(t, "hello"), Encoding: "base64+gz"}},
			[]File{{Name: "a", Data: []byte("hello")}}, nil,
		},
		"unknown encoding": {[]fleet.BundleResource{{Name: "a", Encoding: "rot13"}}, nil, ErrMalformed},
		"no base64":        {[]fleet.BundleResource{{Name: "a", Content: "%", Encoding: "base64+gz"}}, nil, ErrMalformed},
		"two halves of a bomb": {
			[]fleet.BundleResource{{Name: "a", Content: half, Encoding: "base64+gz"}, {Name: "b", Content: half, Encoding: "base64+gz"}},
			nil, ErrTooLarge,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Files(tc.resources)
			if !errors.Is(err, tc.wantErr) {
				t.Fatalf("error %v, want %v", err, tc.wantErr)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPackUnpackRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		byName := rapid.MapOf(rapid.StringN(1, 20, 80), rapid.String()).Draw(t, "files")
		var resources []fleet.BundleResource
		for name, data := range byName {
			resources = append(resources, fleet.BundleResource{Name: name, Content: data})
		}
		name, gz, _, err := Pack(resources)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Unpack(name, gz)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(byName) {
			t.Fatalf("%d resources, want %d", len(got), len(byName))
		}
		for _, r := range got {
			if byName[r.Name] != r.Content {
				t.Fatalf("resource %q changed", r.Name)
			}
		}
	})
}

// The texts are what Fleet's command line makes of the same files.
func TestEncodeWritesWhatFleetWrites(t *testing.T) {
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"no text": {data: []byte{0xe9, 0xe8}, want: "H4sIAAAAAAAA/3r5AhAAAP//EDC0YAIAAAA="},
		"nothing": {want: "H4sIAAAAAAAA/wEAAP//AAAAAAAAAAA="},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Encode(File{Name: "file", Data: test.data})
			if err != nil {
				t.Fatal(err)
			}
			if want := (fleet.BundleResource{Name: "file", Content: test.want, Encoding: encodingGzip}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}
