package cli

import (
	"context"
	"fmt"
	"io"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/cli/bundlefile"
	"open-cluster-management.io/fleet-addon/pkg/cli/deployment"
	"open-cluster-management.io/fleet-addon/pkg/cli/rights"
	"open-cluster-management.io/fleet-addon/pkg/content"
	keep "open-cluster-management.io/fleet-addon/pkg/revision"
	"open-cluster-management.io/fleet-addon/pkg/target"
	"open-cluster-management.io/fleet-addon/pkg/values"
)

// candidate is what clusters would get.
type candidate struct {
	// title says what it is.
	title string
	// bundle with its values in it.
	bundle *fleet.Bundle
	files  deployment.Files
}

// candidate finds what the flags ask to compare with.
func (h *hub) candidate(ctx context.Context, o *diffOptions, in io.Reader) (*candidate, error) {
	c, err := h.find(ctx, o, in)
	if err != nil {
		return nil, err
	}
	if errs := target.Validate(c.bundle); len(errs) > 0 {
		return nil, fmt.Errorf("bundle %s: %w", h.bundle, errs.ToAggregate())
	}
	return c, nil
}

func (h *hub) find(ctx context.Context, o *diffOptions, in io.Reader) (*candidate, error) {
	switch {
	case o.toRevision != "":
		return h.keptCandidate(ctx, o.toRevision)
	case o.bundleFile != "":
		b, err := h.readBundle(ctx, o.bundleFile, in)
		if err != nil {
			return nil, err
		}
		return newCandidate("the Bundle in "+o.bundleFile, b)
	}
	b := &fleet.Bundle{}
	err := h.client.Get(ctx, h.bundle, b)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("no Bundle %s on the hub: check the name and --namespace", h.bundle)
	}
	if err != nil {
		return nil, rights.Missing(fmt.Errorf("get Bundle %s: %w", h.bundle, err), "get", "bundles."+fleet.SchemeGroupVersion.Group, h.bundle.Namespace)
	}
	if err := h.putValues(ctx, b); err != nil {
		return nil, err
	}
	return newCandidate("what the Bundle says now", b)
}

func newCandidate(title string, b *fleet.Bundle) (*candidate, error) {
	files, err := deployment.FilesOf(b)
	if err != nil {
		return nil, err
	}
	return &candidate{title: title, bundle: b, files: files}, nil
}

// putValues puts the values of its Secret on the hub into a Bundle that has only their hash.
func (h *hub) putValues(ctx context.Context, b *fleet.Bundle) error {
	if b.Spec.ValuesHash == "" {
		return nil
	}
	key, secret := client.ObjectKeyFromObject(b), &corev1.Secret{}
	err := h.client.Get(ctx, key, secret)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("spec.valuesHash: there is no Secret %s with the values: `fleetctl apply` writes it", key)
	case err != nil:
		return rights.Missing(fmt.Errorf("get Secret %s with the values of the bundle: %w", key, err), "get", "secrets", key.Namespace)
	}
	if err := values.Put(b, secret.Data); err != nil {
		return fmt.Errorf("spec.valuesHash: Secret %s: %w", key, err)
	}
	b.Spec.ValuesHash = ""
	return nil
}

// readBundle finds the bundle in a file, by its name.
func (h *hub) readBundle(ctx context.Context, file string, in io.Reader) (*fleet.Bundle, error) {
	bundles, err := bundlefile.Read(file, in)
	if err != nil {
		return nil, err
	}
	for _, b := range bundles {
		if b.Name == h.bundle.Name {
			// What is compared is this bundle of this namespace, wherever the file was made for.
			b.Namespace = h.bundle.Namespace
			return b.Bundle, h.putValues(ctx, b.Bundle)
		}
	}
	return nil, fmt.Errorf("%s: no Bundle %s in it", file, h.bundle.Name)
}

// keptCandidate opens a revision that is kept.
func (h *hub) keptCandidate(ctx context.Context, asked string) (*candidate, error) {
	known, err := h.revisions(ctx)
	if err != nil {
		return nil, err
	}
	found := lookup(known, asked)
	if found == nil {
		return nil, fmt.Errorf("the Bundle %s has no revision %q; kept are: %s", h.bundle, asked, list(known))
	}
	cr := &appsv1.ControllerRevision{}
	key := types.NamespacedName{Namespace: h.bundle.Namespace, Name: keep.Name(h.bundle, found.hash)}
	if err := h.client.Get(ctx, key, cr); err != nil {
		return nil, rights.Missing(fmt.Errorf("get ControllerRevision %s: %w", key, err), "get", "controllerrevisions.apps", key.Namespace)
	}
	kept, err := keep.Read(cr)
	if err != nil {
		return nil, err
	}
	var data []byte
	if kept.Values {
		secret := &corev1.Secret{}
		key.Name = keep.SecretName(cr.Name)
		if err := h.client.Get(ctx, key, secret); err != nil {
			return nil, rights.Missing(fmt.Errorf("get Secret %s: %w", key, err), "get", "secrets", key.Namespace)
		}
		data = secret.Data[keep.SecretKey]
	}
	spec, err := keep.Open(cr, data)
	if err != nil {
		return nil, err
	}
	packed, err := h.content(ctx, kept.Content)
	if err != nil {
		return nil, err
	}
	resources, err := content.Unpack(kept.Content, packed.Content)
	if err != nil {
		return nil, err
	}
	spec.Resources = resources
	b := &fleet.Bundle{ObjectMeta: metav1.ObjectMeta{Namespace: h.bundle.Namespace, Name: h.bundle.Name}, Spec: *spec}
	return newCandidate("revision "+found.String(), b)
}

// content gets the files of a bundle from the hub.
func (h *hub) content(ctx context.Context, name string) (*v1alpha1.Content, error) {
	c := &v1alpha1.Content{}
	err := h.client.Get(ctx, types.NamespacedName{Name: name}, c)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("the Content %s is not on the hub any more", name)
	}
	if err != nil {
		return nil, rights.Missing(fmt.Errorf("get Content %s: %w", name, err), "get", "contents."+v1alpha1.GroupName, metav1.NamespaceAll)
	}
	return c, nil
}
