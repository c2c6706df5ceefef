package document

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

const secretA = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: app}\n"

// TestRead: what is found in files, and what is said of the rest.
func TestRead(t *testing.T) {
	cases := map[string]struct {
		data string
		want []string
		err  string
	}{
		"two documents, and empty ones between": {
			"---\n" + secretA + "---\n# nothing\n---\n" + strings.Replace(secretA, "name: a", "name: b", 1),
			[]string{"f: document 1 (Secret app/a)", "f: document 2 (Secret app/b)"}, "",
		},
		"JSON":       {`{"apiVersion": "v1", "kind": "Secret"}`, []string{"f: document 1 (Secret)"}, ""},
		"no kind":    {"a: b\n", []string{"f: document 1"}, ""},
		"no objects": {"", nil, ""},
		"a list": {
			"apiVersion: v1\nkind: List\nitems:\n- {kind: Secret, metadata: {name: a}}\n- 5\n",
			[]string{"f: document 1: items[0] (Secret a)"}, "f: document 1: items[1]: an object is wanted",
		},
		"text":            {"hello", nil, "f: document 1: a string does not fit here, a map of fields is wanted"},
		"what is left":    {"a: [\n---\n" + secretA, []string{"f: document 2 (Secret app/a)"}, "f: document 1: "},
		"one field twice": {"kind: A\nkind: B\n", nil, `key "kind" already set`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			found, err := Read("f", []byte(tc.data))
			var places []string
			for _, d := range found {
				places = append(places, d.Place())
			}
			if diff := cmp.Diff(tc.want, places); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got := text(err); tc.err == "" && got != "" || !strings.Contains(got, tc.err) {
				t.Errorf("got error %q, want %q", got, tc.err)
			}
		})
	}
}

func TestReadRefusesWhatIsTooLarge(t *testing.T) {
	if _, err := Read("f", make([]byte, MaxSize+1)); !errors.Is(err, ErrTooLarge) || !strings.HasPrefix(err.Error(), "f: ") {
		t.Errorf("got %v", err)
	}
}

// TestInto: mistakes are said with their field, and never with a value.
func TestInto(t *testing.T) {
	cases := map[string]struct{ data, want string }{
		"all is well":                 {secretA + "type: Opaque\n", ""},
		"a field that does not exist": {secretA + "typ: Opaque\n", "f: document 1 (Secret app/a): typ: there is no such field"},
		"two of them": {
			secretA + "typ: Opaque\ndate: {}\n",
			"f: document 1 (Secret app/a): date: there is no such field\nf: document 1 (Secret app/a): typ: there is no such field",
		},
		"a value of the wrong type": {
			secretA + "stringData: {password: 12345}\n",
			"f: document 1 (Secret app/a): stringData.password: a number does not fit here, text is wanted",
		},
		"a value that is no base64": {
			secretA + "data: {password: hunter2!}\n",
			"f: document 1 (Secret app/a): data.password: illegal base64 data at input byte 7",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			found, err := Read("f", []byte(tc.data))
			if err != nil || len(found) != 1 {
				t.Fatalf("got %d documents and %v", len(found), err)
			}
			if got := text(found[0].Into(&corev1.Secret{})); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(secretA))
	f.Add([]byte("a: &a [*a]\n---\nkind: List\nitems: [{kind: List, items: [1]}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		found, _ := Read("f", data)
		for _, d := range found {
			// No panic, and a mistake has a place.
			if err := d.Into(&corev1.Secret{}); err != nil && !strings.HasPrefix(err.Error(), "f: document ") {
				t.Errorf("got %v", err)
			}
		}
	})
}

func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(file, []byte(secretA), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ file, want string }{
		"a file":             {file, file + ": document 1 (Secret app/a)"},
		"the standard input": {"-", "standard input: document 1 (Secret app/a)"},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := Load(tc.file, strings.NewReader(secretA))
			if err != nil || len(found) != 1 || found[0].Place() != tc.want {
				t.Errorf("got %v and %v, want %s", found, err, tc.want)
			}
		})
	}
	if _, err := Load(file+".none", nil); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), file+".none") {
		t.Errorf("got %v", err)
	}
	if _, err := Load("-", zeros{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}

// zeros never end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
