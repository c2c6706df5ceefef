package deploy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/fleet-addon/pkg/agent/fault"
	"open-cluster-management.io/fleet-addon/pkg/agent/release"
	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/content"
)

const (
	// valuesKey of the Secret that holds Helm values.
	valuesKey = "values.yaml"
	// valuesWait is how often a Secret is looked at that is waited for, beside its
	// events.
	valuesWait = time.Minute
)

// load gets the files and values of a BundleDeployment.
func (r *Reconciler) load(ctx context.Context, bd *v1alpha1.BundleDeployment, n *note, want release.Want) (*release.Source, error) {
	values, err := r.values(ctx, bd)
	if err != nil {
		return nil, err
	}
	files, err := r.files(ctx, bd, n)
	if err != nil {
		return nil, err
	}
	return release.NewSource(want, files, values)
}

func (r *Reconciler) files(ctx context.Context, bd *v1alpha1.BundleDeployment, n *note) ([]content.File, error) {
	name, gz := bd.Spec.Content.Name, bd.Spec.Content.Inline
	if len(gz) == 0 {
		var err error
		if gz, err = r.fetch(ctx, n, name); err != nil {
			return nil, err
		}
	}
	resources, err := content.Unpack(name, gz)
	if err != nil {
		n.fetched = nil
		if len(bd.Spec.Content.Inline) > 0 {
			return nil, fault.Terminalf("spec.content.inline: %w", err)
		}
		return nil, err
	}
	files, err := content.Files(resources)
	if err != nil {
		return nil, fault.Terminalf("content %s: %w", name, err)
	}
	return files, nil
}

// fetch gets content from the hub, at a random moment, since all clusters of a
// group are told at the same time. It is kept until it is deployed, so that a
// retry costs the hub nothing.
func (r *Reconciler) fetch(ctx context.Context, n *note, name string) ([]byte, error) {
	if n.content != name {
		n.content, n.fetched, n.fetchAt = name, nil, r.Clock.Now()
		if r.Jitter > 0 {
			n.fetchAt = n.fetchAt.Add(rand.N(r.Jitter))
		}
	}
	if n.fetched != nil {
		return n.fetched, nil
	}
	if wait := n.fetchAt.Sub(r.Clock.Now()); wait > 0 {
		return nil, fault.Waitingf(wait, "content %s is fetched from the hub in a moment", name)
	}
	gz, sum, err := r.Hub.Content(ctx, name)
	if err != nil {
		return nil, err
	}
	if content.Name(sum) != name {
		return nil, fmt.Errorf("content %s: %w: sha256sum is %s", name, content.ErrMismatch, sum)
	}
	n.fetched = gz
	return gz, nil
}

// values reads the Helm values that belong to this spec; it waits for a Secret
// that has them.
func (r *Reconciler) values(ctx context.Context, bd *v1alpha1.BundleDeployment) ([]byte, error) {
	name := bd.Spec.ValuesSecret
	if name == "" {
		return nil, nil
	}
	var secret corev1.Secret
	err := r.Live.Get(ctx, types.NamespacedName{Namespace: bd.Namespace, Name: name}, &secret)
	if apierrors.IsNotFound(err) {
		return nil, fault.Waitingf(valuesWait, "spec.valuesSecret: Secret %s is not there yet", name)
	}
	if err != nil {
		return nil, fmt.Errorf("read Secret %s: %w", name, err)
	}
	values := secret.Data[valuesKey]
	if sum := sha256.Sum256(values); bd.Spec.ValuesHash != "" && hex.EncodeToString(sum[:]) != bd.Spec.ValuesHash {
		return nil, fault.Waitingf(valuesWait, "spec.valuesHash: Secret %s does not have the values of this admission yet", name)
	}
	return values, nil
}
