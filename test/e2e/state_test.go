package e2e

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

// describeState adds to the report of a failed spec what the clusters say, before anything is removed.
func describeState(report SpecReport) {
	if hub == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var b strings.Builder
	rollouts := &v1alpha1.RolloutList{}
	_ = hub.List(ctx, rollouts) // what cannot be read is left out
	for _, r := range rollouts.Items {
		fmt.Fprintf(&b, "Rollout %s/%s revision %s %s done, %s: %s\n", r.Namespace, r.Name, r.Status.Revision, r.Status.Done, r.Status.Reason, r.Status.Message)
		for _, lane := range r.Status.Lanes {
			for _, g := range lane.Groups {
				fmt.Fprintf(&b, "  %s/%s open %v passed %v breached %v %+v %s: %s\n", lane.Name, g.Name, g.Open, g.Passed, g.Breached, g.Counts, g.Reason, g.Message)
			}
		}
	}
	bundles := &fleet.BundleList{}
	_ = hub.List(ctx, bundles)
	for _, bundle := range bundles.Items {
		fmt.Fprintf(&b, "Bundle %s/%s %+v\n", bundle.Namespace, bundle.Name, bundle.Status.Conditions)
	}
	works := &workv1.ManifestWorkList{}
	_ = hub.List(ctx, works, client.HasLabels{v1alpha1.LabelBundle})
	for i := range works.Items {
		w := &works.Items[i]
		read, err := work.Read(w)
		fmt.Fprintf(&b, "ManifestWork %s/%s generation %d deleting %v %+v %v\n", w.Namespace, w.Name, w.Generation, w.DeletionTimestamp, read, err)
	}
	addons := &addonv1beta1.ManagedClusterAddOnList{}
	_ = hub.List(ctx, addons)
	for _, a := range addons.Items {
		fmt.Fprintf(&b, "ManagedClusterAddOn %s deleting %v finalizers %v\n", a.Namespace, a.DeletionTimestamp, a.Finalizers)
		for _, c := range a.Status.Conditions {
			fmt.Fprintf(&b, "  %s %s %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	AddReportEntry("state after "+report.LeafNodeText, b.String(), ReportEntryVisibilityFailureOrVerbose)
}
