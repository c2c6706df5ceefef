package publish

import (
	"context"
	"errors"
	"fmt"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/cli/rights"
)

// page is how many objects one request lists.
const page = 500

// Prune deletes the Bundles of a namespace that the owner's label marks, and that are none
// of those that were published. It must come after Publish, and only if that had no error.
func (p *Publisher) Prune(ctx context.Context, namespace string, published []*fleet.Bundle) error {
	keep := map[string]bool{}
	for _, b := range published {
		keep[b.Name] = true
	}
	old, err := p.owned(ctx, namespace)
	if err != nil {
		return err
	}
	var errs []error
	for i := range old {
		b := &old[i]
		if keep[b.Name] || !b.DeletionTimestamp.IsZero() {
			continue
		}
		key := client.ObjectKeyFromObject(b)
		// One that was made anew meanwhile is another one.
		err := p.Client.Delete(ctx, b, client.Preconditions{UID: &b.UID})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			errs = append(errs, rights.Missing(fmt.Errorf("delete Bundle %s, which is not made any more: %w", key, err), "delete", bundles, namespace))
		default:
			p.tell(key, Deleted)
		}
	}
	return errors.Join(errs...)
}

// owned are the Bundles with the owner's label. Their specs are not needed, and large.
func (p *Publisher) owned(ctx context.Context, namespace string) ([]metav1.PartialObjectMetadata, error) {
	if len(validation.IsValidLabelValue(p.Owner)) > 0 {
		// No Bundle can have such a label.
		return nil, nil
	}
	var out []metav1.PartialObjectMetadata
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(fleet.SchemeGroupVersion.WithKind("BundleList"))
	for {
		err := p.Client.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{fleet.RepoLabel: p.Owner},
			client.Limit(page), client.Continue(list.Continue))
		if err != nil {
			return nil, rights.Missing(fmt.Errorf("list the Bundles of %s, to delete those that are not made any more: %w", p.Owner, err),
				"list", bundles, namespace)
		}
		out = append(out, list.Items...)
		if list.Continue == "" {
			return out, nil
		}
	}
}
