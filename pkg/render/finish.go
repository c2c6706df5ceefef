package render

import (
	"fmt"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

const (
	// AnnotationPolicy with PolicyKeep leaves an object when its release goes.
	AnnotationPolicy = "helm.sh/resource-policy"
	// PolicyKeep is the value of AnnotationPolicy.
	PolicyKeep = "keep"
)

// Scopes tells whether the objects of a kind are in namespaces.
type Scopes func(schema.GroupVersionKind) (namespaced bool, err error)

// Objects are those of a release, of what Helm's templates gave as YAML documents without
// hooks. Errors are ErrInvalid.
func Objects(_ Input, rendered []byte) ([]*unstructured.Unstructured, error) {
	objects, err := manifest.Documents(rendered)
	if err != nil {
		return nil, invalidf("rendered chart: %w", err)
	}
	return objects, nil
}

// Place puts the objects of a release into the namespace that the options force, and has
// CRDs, with all that people made of them, kept when the release goes. An error of scopes
// stays what it is; the others are ErrInvalid.
func Place(in Input, objects []*unstructured.Unstructured, scopes Scopes) error {
	for _, o := range objects {
		if err := place(o, in.Options, scopes); err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

func place(o *unstructured.Unstructured, options fleet.BundleDeploymentOptions, scopes Scopes) error {
	gvk := o.GroupVersionKind()
	if isCRD(gvk) && !options.DeleteCRDResources {
		annotations := o.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[AnnotationPolicy] = PolicyKeep
		o.SetAnnotations(annotations)
	}
	if options.TargetNamespace == "" {
		return nil
	}
	namespaced, err := scopes(gvk)
	if err != nil {
		return err
	}
	if !namespaced {
		return invalidf("a cluster-scoped object cannot go into the namespace %s that option `namespace` forces; use `defaultNamespace`", options.TargetNamespace)
	}
	o.SetNamespace(options.TargetNamespace)
	return nil
}

func isCRD(gvk schema.GroupVersionKind) bool {
	return gvk.Group == "apiextensions.k8s.io" && gvk.Kind == "CustomResourceDefinition"
}
