package placement

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/fleet-addon/pkg/hub/outcome"
)

// SetupWithManager starts the observer: its root kind is Placement.
func (o *Observer) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("placement").
		For(&clusterv1beta1.Placement{}).
		Watches(&clusterv1beta1.PlacementDecision{}, handler.EnqueueRequestsFromMapFunc(placementOf)).
		Complete(o)
}

// Reconcile takes a new snapshot.
func (o *Observer) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return outcome.Result(ctx, 0, o.refresh(ctx, req.NamespacedName))
}

func placementOf(_ context.Context, decision client.Object) []reconcile.Request {
	name := decision.GetLabels()[clusterv1beta1.PlacementLabel]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: decision.GetNamespace(), Name: name}}}
}
