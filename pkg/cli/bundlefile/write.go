package bundlefile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"sigs.k8s.io/yaml"
)

// Write writes Bundles as YAML documents, with their Helm values as they are in them.
func Write(out io.Writer, bundles ...*fleet.Bundle) error {
	for i, b := range bundles {
		object, err := Object(b)
		if err != nil {
			return err
		}
		data, err := yaml.Marshal(object)
		if err != nil {
			// The library's error can show a value.
			return fmt.Errorf("bundle %s/%s cannot be written as YAML", b.Namespace, b.Name)
		}
		if i > 0 {
			data = append([]byte("---\n"), data...)
		}
		if _, err := out.Write(data); err != nil {
			return err
		}
	}
	return nil
}

// Object is a Bundle as people write one: without status, and without what is null.
func Object(b *fleet.Bundle) (map[string]any, error) {
	data, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("bundle %s/%s cannot be written as JSON", b.Namespace, b.Name)
	}
	object := map[string]any{}
	// Numbers stay as they are written.
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil {
		return nil, fmt.Errorf("bundle %s/%s cannot be written as JSON", b.Namespace, b.Name)
	}
	delete(object, "status")
	object["apiVersion"], object["kind"] = fleet.SchemeGroupVersion.String(), "Bundle"
	if meta, ok := object["metadata"].(map[string]any); ok {
		delete(meta, "creationTimestamp")
	}
	return object, nil
}
