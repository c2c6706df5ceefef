package bundle

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/fleet-addon/pkg/hub/outcome"
)

// gone removes what is left of a bundle that was deleted, after a live read has
// said so. Its Rollout goes with its owner.
func (r *Reconciler) gone(ctx context.Context, key types.NamespacedName) error {
	r.Metrics.forget(key)
	works, err := r.listWorks(ctx, key)
	if err != nil {
		return err
	}
	if len(works) == 0 {
		r.forget(key)
		return nil
	}
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(bundleKind)
	switch err := r.Live.Get(ctx, key, live); {
	case err == nil && live.DeletionTimestamp.IsZero():
		return outcome.Wait(cacheDelay, "the cache does not show Bundle %s", key)
	case err != nil && !objectNotFound(err, key.Name):
		return fmt.Errorf("get Bundle %s live: %w", key, err)
	}
	c := &carrying{Reconciler: r, memory: r.memories.get(key)}
	c.each(ctx, len(works), func(i int) error {
		if !works[i].DeletionTimestamp.IsZero() {
			return nil
		}
		ctrl.LoggerFrom(ctx).Info("Removing work of a bundle that was deleted", "cluster", works[i].Namespace)
		return deleteWork(ctx, r.Writer, &works[i])
	})
	return errors.Join(c.errs...)
}

func (r *Reconciler) forget(key types.NamespacedName) {
	r.memories.forget(key)
	r.interests.begin(key)
	r.Contents.Forget(key)
	r.Placements.Forget(key, nil)
}

// objectNotFound tells an object that is not there from a kind that is not served:
// both are "not found", and a removed CRD must not look like bundles that people
// have deleted.
func objectNotFound(err error, name string) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Name == name && !hasCause(details, metav1.CauseTypeUnexpectedServerResponse)
}

func hasCause(details *metav1.StatusDetails, cause metav1.CauseType) bool {
	for _, c := range details.Causes {
		if c.Type == cause {
			return true
		}
	}
	return false
}
