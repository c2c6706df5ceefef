package deployment

import (
	"encoding/json"
	"errors"
	"fmt"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

// Files are a bundle's, and the name that their Content has.
type Files struct {
	Content string
	List    []content.File
}

// FilesOf decodes the files of a bundle.
func FilesOf(b *fleet.Bundle) (Files, error) {
	name, _, _, err := content.Pack(b.Spec.Resources)
	if err != nil {
		return Files{}, fmt.Errorf("bundle %s/%s: spec.resources: %w", b.Namespace, b.Name, err)
	}
	list, err := content.Files(b.Spec.Resources)
	if err != nil {
		return Files{}, fmt.Errorf("bundle %s/%s: spec.resources: %w", b.Namespace, b.Name, err)
	}
	return Files{Content: name, List: list}, nil
}

// Made is what a bundle would have deployed on a cluster: its files with the options that
// are merged and rendered for it. The options are read, never changed.
func Made(bundle types.NamespacedName, cluster string, files Files, options fleet.BundleDeploymentOptions) (*Deployment, error) {
	d := &Deployment{Cluster: cluster, Files: files.List, Object: &v1alpha1.BundleDeployment{}}
	d.Object.Name = work.Name(bundle)
	d.Object.Spec.Bundle, d.Object.Spec.Content.Name = bundle.String(), files.Content
	var err error
	if d.Object.Spec.Options, d.Values, err = work.SplitValues(options); err != nil {
		return nil, fmt.Errorf("bundle %s on cluster %s: %w", bundle, cluster, err)
	}
	return d, nil
}

// InWork returns the one deployment that a ManifestWork carries. fetch gets the Content
// that is not in it.
func InWork(w *workv1.ManifestWork, fetch func(name string) (*v1alpha1.Content, error)) (*Deployment, error) {
	source := fmt.Sprintf("ManifestWork %s/%s", w.Namespace, w.Name)
	var objects []*unstructured.Unstructured
	for i, m := range w.Spec.Workload.Manifests {
		o := &unstructured.Unstructured{}
		if err := json.Unmarshal(m.Raw, &o.Object); err != nil {
			// The library's error can show a value.
			return nil, fmt.Errorf("%s: manifest %d: %w", source, i, errors.New("is no JSON object"))
		}
		objects = append(objects, o)
	}
	set, err := Of(source, objects)
	if err != nil {
		return nil, err
	}
	set.Fetch = fetch
	d, err := set.Choose("", "")
	if err != nil {
		return nil, err
	}
	d.Cluster = w.Namespace
	return d, nil
}
