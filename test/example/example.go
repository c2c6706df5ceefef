// Package example reads examples/dev-stg-prod and makes four versions of its bundle: the demo shows them, the e2e suite
// asserts them.
package example

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Stages are the groups, in order.
var Stages = []string{"dev", "stg", "prod"}

// Soak is the example's minSuccessTime.
const Soak = 20 * time.Second

// Where the example's release is on each cluster; its ConfigMap has the release's name too.
const (
	ReleaseNamespace = "hello"
	ReleaseName      = "hello"
)

// Version is one change of the example's Bundle: texts of its files, and what comes in their place.
type Version struct {
	Name, About string
	// Chart is the chart's version, which the example's ConfigMap repeats.
	Chart string
	// Held is true if it must not get past dev.
	Held  bool
	edits map[string]string
}

// An image with never-ready in its tag never becomes ready: the local clusters see to that, and elsewhere there is none.
const (
	goodImage = "registry.k8s.io/pause:3.10"
	badImage  = "registry.k8s.io/pause:never-ready"
)

// Versions in their order.
var Versions = []Version{
	{Name: "v1", Chart: "1.0.0", About: "the first install: dev, then stg, then prod"},
	{Name: "v2", Chart: "2.0.0", About: "another message: dev, then stg, then prod",
		edits: map[string]string{"version: 1.0.0": "version: 2.0.0", "message: hello": "message: hello again"}},
	{Name: "v3", Chart: "3.0.0", About: "an image that never becomes ready: stops at dev", Held: true,
		edits: map[string]string{"version: 1.0.0": "version: 3.0.0", "message: hello": "message: hello again", goodImage: badImage}},
	{Name: "v4", Chart: "4.0.0", About: "the repair: goes through by itself",
		edits: map[string]string{"version: 1.0.0": "version: 4.0.0", "message: hello": "message: hello for good"}},
}

// bundleKind is the kind of the object that the versions change.
const bundleKind = "Bundle"

// Read returns the objects of all files in a folder, in the order of the files.
func Read(dir string) ([]*unstructured.Unstructured, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var objects []*unstructured.Unstructured
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		decoder := yaml.NewYAMLOrJSONDecoder(file, 4096)
		for {
			object := &unstructured.Unstructured{}
			err = decoder.Decode(&object.Object)
			if err != nil {
				break
			}
			if len(object.Object) > 0 {
				objects = append(objects, object)
			}
		}
		file.Close()
		if !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return objects, nil
}

// Split takes the one Bundle out of the examples.
func Split(objects []*unstructured.Unstructured) (bundle *unstructured.Unstructured, rest []*unstructured.Unstructured, err error) {
	for _, o := range objects {
		switch {
		case o.GetKind() != bundleKind:
			rest = append(rest, o)
		case bundle != nil:
			return nil, nil, fmt.Errorf("the examples have two bundles, %s and %s", bundle.GetName(), o.GetName())
		default:
			bundle = o
		}
	}
	if bundle == nil {
		return nil, nil, errors.New("the examples have no bundle")
	}
	return bundle, rest, nil
}

// Of returns the example's bundle at this version. Each edit has to apply exactly once: else the example has changed.
func (v Version) Of(example *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	bundle := example.DeepCopy()
	resources, _, err := unstructured.NestedSlice(bundle.Object, "spec", "resources")
	if err != nil {
		return nil, err
	}
	for from, to := range v.edits {
		found := 0
		for _, r := range resources {
			file, ok := r.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("%s: spec.resources is not a list of files", v.Name)
			}
			text, _ := file["content"].(string)
			// Whole lines: a text must not be found in a longer one.
			lines := strings.Split(text, "\n")
			for i, line := range lines {
				if line == from || strings.HasSuffix(line, " "+from) {
					lines[i] = strings.TrimSuffix(line, from) + to
					found++
				}
			}
			file["content"] = strings.Join(lines, "\n")
		}
		if found != 1 {
			return nil, fmt.Errorf("%s: %q stands %d times in the example's files, want once", v.Name, from, found)
		}
	}
	return bundle, unstructured.SetNestedSlice(bundle.Object, resources, "spec", "resources")
}
