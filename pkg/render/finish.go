package render

import (
	"fmt"
	"slices"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"helm.sh/helm/v3/pkg/releaseutil"
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

// Objects are those of a release, made of what Helm's templates gave as YAML documents
// without hooks: with raw YAML that is no template, or as the bundle's kustomization
// changes them. They are in the order in which Helm applies them. Errors are ErrInvalid;
// those of Kustomize may quote values.
func Objects(in Input, rendered []byte) ([]*unstructured.Unstructured, error) {
	if len(rendered) > MaxOutput {
		return nil, invalidf("the templates of the bundle give %d bytes, at most %d are taken", len(rendered), MaxOutput)
	}
	objects, err := manifest.Documents(rendered)
	if err != nil {
		return nil, invalidf("rendered chart: %w", err)
	}
	s, err := styleOf(in)
	switch {
	case err != nil:
		return nil, err
	case s.kustomize:
		if objects, err = kustomize(in, objects); err != nil {
			return nil, invalidf("kustomize: %w", err)
		}
	case !s.helm:
		_, plain, err := rawFiles(in)
		if err != nil {
			return nil, err
		}
		raw, err := rawObjects(plain)
		if err != nil {
			return nil, err
		}
		objects = append(objects, raw...)
	default:
		return objects, nil
	}
	slices.SortStableFunc(objects, byKind)
	return objects, nil
}

// byKind is Helm's order of kinds; it puts those that it does not know behind the others.
func byKind(a, b *unstructured.Unstructured) int {
	place := func(o *unstructured.Unstructured) int {
		if i := slices.Index(releaseutil.InstallOrder, o.GetKind()); i >= 0 {
			return i
		}
		return len(releaseutil.InstallOrder)
	}
	return place(a) - place(b)
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
