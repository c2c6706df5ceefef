package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Object names one object of a release.
type Object struct {
	schema.GroupVersionKind
	// Namespace as it stands in the manifest; may be empty for an object of the
	// release's own namespace.
	Namespace string
	Name      string
	// MinVersion is the resourceVersion that the object had once it was applied: a
	// copy that is older says nothing about what was applied. Empty if unknown.
	MinVersion string
}

// String is "Kind namespace/name".
func (o Object) String() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// Documents reads the objects of a YAML or JSON stream; empty documents are
// left out, and lists are replaced by their items. A document without
// apiVersion or kind is an error that says which one of the stream it is.
func Documents(stream []byte) ([]*unstructured.Unstructured, error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(stream)))
	var out []*unstructured.Unstructured
	for n := 1; ; n++ {
		doc, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		objects, err := parse(doc)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		out = append(out, objects...)
	}
}

// Objects names the objects of a rendered manifest.
func Objects(rendered string) ([]Object, error) {
	docs, err := Documents([]byte(rendered))
	if err != nil {
		return nil, err
	}
	return Names(docs), nil
}

// Names names objects.
func Names(docs []*unstructured.Unstructured) []Object {
	out := make([]Object, 0, len(docs))
	for _, d := range docs {
		out = append(out, Object{GroupVersionKind: d.GroupVersionKind(), Namespace: d.GetNamespace(), Name: d.GetName()})
	}
	return out
}

// Render writes objects as one YAML stream, which Documents reads back.
func Render(objects []*unstructured.Unstructured) ([]byte, error) {
	var out bytes.Buffer
	for _, o := range objects {
		text, err := yaml.Marshal(o.Object)
		if err != nil {
			return nil, fmt.Errorf("render %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	return out.Bytes(), nil
}

func parse(doc []byte) ([]*unstructured.Unstructured, error) {
	raw, err := yaml.YAMLToJSON(doc)
	if err != nil {
		return nil, fmt.Errorf("error converting YAML to JSON: %w", err)
	}
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return nil, nil
	}
	var content map[string]any
	// UnmarshalJSON of unstructured would do, but its error quotes the document.
	if err := yaml.Unmarshal(raw, &content); err != nil {
		return nil, errors.New("not an object")
	}
	for _, field := range []string{"apiVersion", "kind"} {
		if s, _ := content[field].(string); s == "" {
			return nil, fmt.Errorf("%s is missing: not a Kubernetes object", field)
		}
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		return nil, fmt.Errorf("not a Kubernetes object: %s", content["kind"])
	}
	if !u.IsList() {
		return []*unstructured.Unstructured{u}, nil
	}
	list, err := u.ToList()
	if err != nil {
		return nil, fmt.Errorf("items of a %s: %w", u.GetKind(), err)
	}
	out := make([]*unstructured.Unstructured, 0, len(list.Items))
	for i := range list.Items {
		if list.Items[i].GetKind() == "" || list.Items[i].GetAPIVersion() == "" {
			return nil, fmt.Errorf("item %d of a %s has no apiVersion or kind", i, u.GetKind())
		}
		out = append(out, &list.Items[i])
	}
	return out, nil
}
