package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var configMap = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

func TestObjects(t *testing.T) {
	tests := map[string]struct {
		stream  string
		want    []Object
		wantErr string
	}{
		"nothing":                      {"", []Object{}, ""},
		"comments and empty documents": {"# x\n---\n---\n# y\n", []Object{}, ""},
		"two documents": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: ns}\n",
			[]Object{{GroupVersionKind: configMap, Name: "a"}, {GroupVersionKind: configMap, Name: "b", Namespace: "ns"}}, "",
		},
		"JSON": {
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`,
			[]Object{{GroupVersionKind: configMap, Name: "a"}}, "",
		},
		"a list": {
			"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n",
			[]Object{{GroupVersionKind: configMap, Name: "a"}}, "",
		},
		"no kind":              {"apiVersion: v1\n---\nfoo: bar\n", nil, "document 1: kind is missing"},
		"no apiVersion":        {"kind: X\n", nil, "document 1: apiVersion is missing"},
		"a plain string":       {"hello\n", nil, "document 1: not an object"},
		"no YAML":              {"a: b: c\n", nil, "document 1: error converting YAML to JSON"},
		"an item without kind": {"apiVersion: v1\nkind: List\nitems:\n- metadata: {name: a}\n", nil, "item 0 of a List"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Objects(tc.stream)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("error %v, want %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRenderKeepsNumbers(t *testing.T) {
	in := "apiVersion: v1\nkind: X\nspec: {big: 9007199254740993, text: \"1\"}\n"
	docs, err := Documents([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	out, err := Render(docs)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "big: 9007199254740993") || !strings.Contains(string(out), `text: "1"`) {
		t.Errorf("rendered %s", out)
	}
}
