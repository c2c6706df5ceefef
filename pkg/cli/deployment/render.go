package deployment

import (
	"cmp"
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/fleet-addon/pkg/agent/fault"
	"open-cluster-management.io/fleet-addon/pkg/agent/release"
	"open-cluster-management.io/fleet-addon/pkg/render"
)

// KubeVersion is what is rendered for where nothing says which Kubernetes the cluster has:
// that of the client libraries. Helm's own default is of 2020, which many charts refuse.
const KubeVersion = "1.36"

// Key is where the Helm release of the deployment goes.
func (d *Deployment) Key() release.Key {
	return release.KeyOf(d.Object.Spec.Bundle, d.Object.Spec.Options)
}

// Render returns all objects of the deployment without a cluster, hooks included.
// kubeVersion is that of the cluster, "" for KubeVersion. Errors have no values in them.
func (d *Deployment) Render(ctx context.Context, kubeVersion string) ([]*unstructured.Unstructured, error) {
	values, err := d.ValueMap()
	if err != nil {
		return nil, err
	}
	key := d.Key()
	objects, err := render.Manifests(ctx, render.Input{
		Bundle:  d.Object.Spec.Bundle,
		Release: key.Name, Namespace: key.Namespace,
		Content: d.Object.Spec.Content.Name,
		Options: d.Object.Spec.Options,
		Files:   d.Files,
		Values:  values,
	}, cmp.Or(kubeVersion, KubeVersion))
	if err != nil {
		return nil, scrubbed{err: err, text: fault.Scrubber(values, key.Name, key.Namespace)(err.Error())}
	}
	return objects, nil
}

// scrubbed is an error without values in its text.
type scrubbed struct {
	err  error
	text string
}

func (s scrubbed) Error() string        { return s.text }
func (s scrubbed) Is(target error) bool { return errors.Is(s.err, target) }
