package deploy

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// write patches the status if it changed.
func (r *Reconciler) write(ctx context.Context, bd *v1alpha1.BundleDeployment, n *note, last, next v1alpha1.BundleDeploymentStatus) error {
	if equality.Semantic.DeepEqual(last, next) {
		return nil
	}
	patch, err := statusPatch(last, next)
	if err != nil {
		return err
	}
	obj := bd.DeepCopy()
	if err := r.Client.Status().Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch)); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil
		}
		return fmt.Errorf("patch the status of BundleDeployment %s: %w", bd.Name, err)
	}
	n.status, n.version = obj.Status, obj.ResourceVersion
	if last.State != next.State || last.Message != next.Message || last.Admission != next.Admission {
		logr.FromContextOrDiscard(ctx).Info("verdict", "bundle", bd.Spec.Bundle, "admission", next.Admission,
			"state", next.State, "release", next.Release, "message", next.Message)
	}
	return nil
}

// statusPatch is a merge patch with the whole status, and null for what is not
// in it any more. The schema requires fields that a patch of the difference
// would leave out of a first status.
func statusPatch(last, next v1alpha1.BundleDeploymentStatus) ([]byte, error) {
	before, err := fieldsOf(last)
	if err != nil {
		return nil, err
	}
	after, err := fieldsOf(next)
	if err != nil {
		return nil, err
	}
	for field := range before {
		if _, ok := after[field]; !ok {
			after[field] = nil
		}
	}
	return json.Marshal(map[string]any{"status": after})
}

func fieldsOf(s v1alpha1.BundleDeploymentStatus) (map[string]any, error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode status: %w", err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("encode status: %w", err)
	}
	return out, nil
}
