package release

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/fleet-addon/pkg/agent/fault"
	"open-cluster-management.io/fleet-addon/pkg/agent/manifest"
)

const (
	annotationPolicy = "helm.sh/resource-policy"
	policyKeep       = "keep"
)

// postRenderer prepares the rendered objects of a release; hooks pass Helm's
// post-renderers by.
type postRenderer struct {
	*session
}

// Run labels every object with its owner, by which the agent watches it, forces
// the namespace if the options ask for it, and keeps CRDs, with all that people
// made of them, when the release goes.
func (p postRenderer) Run(rendered *bytes.Buffer) (*bytes.Buffer, error) {
	objects, err := manifest.Documents(rendered.Bytes())
	if err != nil {
		return nil, fault.Terminalf("rendered chart: %w", err)
	}
	for _, o := range objects {
		if err := p.prepare(o); err != nil {
			return nil, err
		}
	}
	p.rendered = manifest.Names(objects)
	out, err := manifest.Render(objects)
	if err != nil {
		return nil, err
	}
	return bytes.NewBuffer(out), nil
}

func (p postRenderer) prepare(o *unstructured.Unstructured) error {
	lbls := o.GetLabels()
	if lbls == nil {
		lbls = map[string]string{}
	}
	lbls[LabelOwner] = p.want.Owner.Name
	o.SetLabels(lbls)

	gvk := o.GroupVersionKind()
	if gvk.Group == "apiextensions.k8s.io" && gvk.Kind == "CustomResourceDefinition" && !p.want.Options.DeleteCRDResources {
		annotations := o.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[annotationPolicy] = policyKeep
		o.SetAnnotations(annotations)
	}
	if p.want.Options.TargetNamespace == "" {
		return nil
	}
	mapping, err := p.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return fault.Terminalf("%s %s: a cluster-scoped object cannot go into the namespace %s that option `namespace` forces; use `defaultNamespace`",
			o.GetKind(), o.GetName(), p.want.Options.TargetNamespace)
	}
	o.SetNamespace(p.want.Options.TargetNamespace)
	return nil
}
