package release

import (
	"bytes"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"open-cluster-management.io/fleet-addon/pkg/manifest"
	"open-cluster-management.io/fleet-addon/pkg/render"
)

// postRenderer prepares the rendered objects of a release; hooks pass Helm's
// post-renderers by.
type postRenderer struct {
	*session
}

// Run makes the objects of the release of what the chart gave, and labels every one
// with its owner, by which the agent watches it.
func (p postRenderer) Run(rendered *bytes.Buffer) (*bytes.Buffer, error) {
	objects, err := render.Objects(p.source.input, rendered.Bytes())
	if err != nil {
		return nil, terminal(err)
	}
	if err := render.Place(p.source.input, objects, p.namespaced); err != nil {
		return nil, terminal(err)
	}
	for _, o := range objects {
		lbls := o.GetLabels()
		if lbls == nil {
			lbls = map[string]string{}
		}
		lbls[LabelOwner] = p.want.Owner.Name
		o.SetLabels(lbls)
	}
	p.rendered = manifest.Names(objects)
	out, err := manifest.Render(objects)
	if err != nil {
		return nil, err
	}
	return bytes.NewBuffer(out), nil
}

func (p postRenderer) namespaced(gvk schema.GroupVersionKind) (bool, error) {
	mapping, err := p.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return false, err
	}
	return mapping.Scope.Name() == meta.RESTScopeNameNamespace, nil
}
