// Package document reads files of YAML documents, so that every mistake is said with its
// file, document and field. It knows no kinds; those that read do.
package document

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// MaxSize of a file in bytes. The largest bundles have a third of it.
const MaxSize = 96 << 20

// ErrTooLarge says that a file is larger than MaxSize.
var ErrTooLarge = errors.New("a file of YAML documents may have 96 MiB")

// Document is an object of a file, or an item of a list in it.
type Document struct {
	// At is where it stands, such as "bundle.yaml: document 2".
	At string
	// APIVersion and Kind are "" where the document does not say.
	APIVersion, Kind string
	// Object is the whole of it.
	Object map[string]any
}

// Place is At with what the document says it is, such as "bundle.yaml: document 2 (Bundle
// app/web)".
func (d Document) Place() string {
	if title := d.title(); title != "" {
		return d.At + " (" + title + ")"
	}
	return d.At
}

func (d Document) title() string {
	meta, _ := d.Object["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	if namespace, _ := meta["namespace"].(string); namespace != "" {
		name = namespace + "/" + name
	}
	return strings.TrimSpace(d.Kind + " " + name)
}

// Into fills a pointer to a type from the document. Fields that the type does not have,
// and values of the wrong type, are errors, each with the place and the field's path.
func (d Document) Into(into any) error { return Located(d.Place(), decode(d.Object, into)) }

// Located says of each of several errors where it is.
func Located(at string, err error) error {
	if err == nil {
		return nil
	}
	var several interface{ Unwrap() []error }
	if !errors.As(err, &several) {
		return fmt.Errorf("%s: %w", at, err)
	}
	var list []error
	for _, e := range several.Unwrap() {
		list = append(list, fmt.Errorf("%s: %w", at, e))
	}
	return errors.Join(list...)
}

// Read returns the documents of a file, and the items of lists in their place. Empty
// ones are left out. Documents that can be read are returned beside the error about
// those that cannot, which names the file and the document.
func Read(name string, data []byte) ([]Document, error) {
	if err := fits(name, data); err != nil {
		return nil, err
	}
	texts := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	var out []Document
	var errs []error
	for n := 1; ; {
		text, err := texts.Read()
		if errors.Is(err, io.EOF) {
			return out, errors.Join(errs...)
		}
		if err != nil {
			return out, errors.Join(append(errs, fmt.Errorf("%s: %w", name, err))...)
		}
		object := map[string]any{}
		if err := yaml.UnmarshalStrict(text, &object); err != nil {
			errs = append(errs, fmt.Errorf("%s: document %d: %w", name, n, plain(err)))
			n++
			continue
		}
		if len(object) == 0 {
			continue
		}
		found, err := flatten(fmt.Sprintf("%s: document %d", name, n), object)
		out, errs = append(out, found...), append(errs, err)
		n++
	}
}

func fits(name string, data []byte) error {
	if len(data) > MaxSize {
		return fmt.Errorf("%s: %w and has %d bytes", name, ErrTooLarge, len(data))
	}
	return nil
}

// flatten returns an object, or the items of a list.
func flatten(at string, object map[string]any) ([]Document, error) {
	d := Document{At: at, Object: object}
	d.Kind, _ = object["kind"].(string)
	d.APIVersion, _ = object["apiVersion"].(string)
	items, ok := object["items"].([]any)
	if !ok || !strings.HasSuffix(d.Kind, "List") {
		return []Document{d}, nil
	}
	var out []Document
	var errs []error
	for i, item := range items {
		at := fmt.Sprintf("%s: items[%d]", at, i)
		object, ok := item.(map[string]any)
		if !ok {
			errs = append(errs, fmt.Errorf("%s: an object is wanted", at))
			continue
		}
		found, err := flatten(at, object)
		out, errs = append(out, found...), append(errs, err)
	}
	return out, errors.Join(errs...)
}
