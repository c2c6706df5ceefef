package publish

import (
	"bytes"
	"context"
	"fmt"
	"maps"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/cli/rights"
	"open-cluster-management.io/fleet-addon/pkg/values"
)

// readSecret returns what stands in the place of the values; nil if nothing does.
func (w *writing) readSecret(ctx context.Context) (*corev1.Secret, error) {
	have := &corev1.Secret{}
	err := w.Client.Get(ctx, w.key, have)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return have, nil
}

// mayTake refuses to put values in the place of a Secret of somebody else: the Bundle would
// wait for them for ever.
func (w *writing) mayTake(have *corev1.Secret) error {
	if have == nil || len(w.data) == 0 || have.Type == values.SecretType {
		return nil
	}
	return fmt.Errorf("bundle %s: the Secret %s has the type %s, and the values of the bundle need its place: choose another name for one of the two",
		w.key, w.key, have.Type)
}

// writeSecret makes the Secret of the bundle hold its values, or removes it where there
// are none any more. was is the hash that the Bundle had; have and unread are what
// readSecret said. It tells whether it wrote.
func (w *writing) writeSecret(ctx context.Context, b *fleet.Bundle, was string, have *corev1.Secret, unread error) (bool, error) {
	switch {
	case apierrors.IsForbidden(unread) && len(w.data) == 0 && was == "":
		// Nothing says that there is one, and nobody needs the right to Secrets for a bundle
		// without values.
		return false, nil
	case unread != nil:
		return false, w.lacks("get", unread)
	case have == nil && len(w.data) == 0:
		return false, nil
	case len(w.data) == 0:
		return w.removeSecret(ctx, have)
	}
	want := w.secret(b)
	if have == nil {
		if err := w.Client.Create(ctx, want, client.FieldOwner(Manager)); err != nil {
			return false, w.lacks("create", err)
		}
		return true, nil
	}
	return w.patchSecret(ctx, have, want)
}

// secret with the values, as Fleet writes it.
func (w *writing) secret(b *fleet.Bundle) *corev1.Secret {
	yes := true
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.key.Namespace, Name: w.key.Name, Labels: maps.Clone(w.want.Labels),
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: fleet.SchemeGroupVersion.String(), Kind: "Bundle", Name: w.key.Name, UID: b.UID,
				Controller: &yes, BlockOwnerDeletion: &yes,
			}},
		},
		Type: values.SecretType,
		Data: w.data,
	}
}

func (w *writing) patchSecret(ctx context.Context, have, want *corev1.Secret) (bool, error) {
	if maps.EqualFunc(have.Data, want.Data, bytes.Equal) && maps.Equal(have.Labels, want.Labels) &&
		equality.Semantic.DeepEqual(have.OwnerReferences, want.OwnerReferences) {
		return false, nil
	}
	before := have.DeepCopy()
	have.Data, have.Labels, have.OwnerReferences = want.Data, want.Labels, want.OwnerReferences
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := w.Client.Patch(ctx, have, patch, client.FieldOwner(Manager)); err != nil {
		return false, w.lacks("patch", err)
	}
	return true, nil
}

// removeSecret removes values that the bundle does not have any more, and nothing else.
func (w *writing) removeSecret(ctx context.Context, have *corev1.Secret) (bool, error) {
	if have.Type != values.SecretType {
		return false, nil
	}
	err := w.Client.Delete(ctx, have, client.Preconditions{UID: &have.UID, ResourceVersion: &have.ResourceVersion})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, w.lacks("delete", err)
	}
	return true, nil
}

// lacks says what it means that the Secret could not be written.
func (w *writing) lacks(verb string, err error) error {
	err = rights.Missing(fmt.Errorf("%s Secret %s with the values: %w", verb, w.key, err), verb, secrets, w.key.Namespace)
	if len(w.data) == 0 {
		return fmt.Errorf("bundle %s is written; the values that it had are left over in their Secret: %w", w.key, err)
	}
	return fmt.Errorf("bundle %s is written, and its values are not: nothing of it rolls out until they are; apply again (%w)", w.key, err)
}
