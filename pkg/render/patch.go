package render

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// applyPatch patches an object, both in YAML or JSON: a list is a JSON patch, anything
// else is merged, strategically if the object is of a type of Kubernetes. Nothing is left
// of an object that its patch deletes. Errors quote neither.
func applyPatch(base, patch []byte) ([]byte, error) {
	object, err := single(base)
	if err != nil {
		return nil, fmt.Errorf("the file to patch %w", err)
	}
	change, err := single(patch)
	if err != nil {
		return nil, fmt.Errorf("the patch %w", err)
	}
	if change[0] == '[' {
		return jsonPatch(object, change)
	}
	if change[0] != '{' || object[0] != '{' {
		return nil, errors.New("one of both is no object")
	}
	typed, err := typeOf(object)
	if err != nil {
		return nil, err
	}
	if typed == nil {
		merged, err := jsonpatch.MergePatch(object, change)
		if err != nil {
			return nil, errors.New("the patch cannot be merged")
		}
		return merged, nil
	}
	return strategicMerge(object, change, typed)
}

func jsonPatch(object, change []byte) ([]byte, error) {
	patch, err := jsonpatch.DecodePatch(change)
	if err != nil {
		return nil, errors.New("the patch is a list, but not of the operations of a JSON patch")
	}
	options := jsonpatch.NewApplyOptions()
	options.AccumulatedCopySizeLimit = MaxOutput
	return patch.ApplyWithOptions(object, options)
}

func strategicMerge(object, change []byte, typed runtime.Object) ([]byte, error) {
	var original, patch map[string]any
	if err := errors.Join(json.Unmarshal(object, &original), json.Unmarshal(change, &patch)); err != nil {
		return nil, errors.New("one of both is no object")
	}
	merged, err := strategicpatch.StrategicMergeMapPatch(original, patch, typed)
	if err != nil {
		// The error would quote the object.
		return nil, errors.New("the patch cannot be merged: look for an item of a list that lacks the field by which the list is merged, such as name, and for wrong $patch directives")
	}
	if len(merged) == 0 {
		return nil, nil
	}
	return json.Marshal(merged)
}

// typeOf is an empty object of the type that an object has; nil if Kubernetes has none
// for it.
func typeOf(object []byte) (runtime.Object, error) {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(object, &head); err != nil {
		return nil, errors.New("apiVersion or kind of the object is no text")
	}
	scheme, err := builtInTypes()
	if err != nil {
		return nil, err
	}
	typed, err := scheme.New(schema.FromAPIVersionAndKind(head.APIVersion, head.Kind))
	if runtime.IsNotRegisteredError(err) || runtime.IsMissingKind(err) || runtime.IsMissingVersion(err) {
		return nil, nil
	}
	return typed, err
}

// single is the one document of a file, in JSON.
func single(file []byte) ([]byte, error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(file)))
	var found []byte
	for {
		doc, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF) && found == nil:
			return nil, errors.New("is empty")
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, fmt.Errorf("cannot be read: %w", err)
		}
		raw, err := yaml.YAMLToJSON(doc)
		if err != nil {
			return nil, fmt.Errorf("is no YAML: %w", err)
		}
		raw = bytes.TrimSpace(raw)
		switch {
		case bytes.Equal(raw, []byte("null")):
		case found != nil:
			return nil, errors.New("holds several documents: put each into a file of its own")
		default:
			found = raw
		}
	}
}
