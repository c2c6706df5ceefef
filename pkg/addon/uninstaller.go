package addon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// configLabels are on the AddOnDeploymentConfigs of the chart. Helm keeps them (a
// cluster may still run an older one during an upgrade), so they go here.
var configLabels = client.MatchingLabels{"app.kubernetes.io/part-of": "fleet-addon"}

// errStillHeld: a manager is there and does not let go, so it must not be removed.
var errStillHeld = errors.New("the manager still holds add-ons")

// uninstaller takes the add-on from all clusters while the manager still runs. It
// ends, with or without manager and clusters, and leaves no finalizer that only the
// manager could remove.
type uninstaller struct {
	client client.Client
	out    io.Writer
	opts   uninstallOptions
	now    func() time.Time

	left leftovers
	// started, and what is known of the manager's Lease.
	started    time.Time
	renewal    string
	renewalAt  time.Time
	lastStatus string
}

func (u *uninstaller) run(ctx context.Context) error {
	var err error
	if u.left, err = findLeftovers(ctx, u.client); err != nil {
		return err
	}
	u.left.print(u.out)
	u.left.warn(ctx, u.client, u.out, metav1.NewTime(u.now()))

	addons, err := u.addons(ctx)
	if err != nil {
		return err
	}
	// Before the deletion, so that the manager sees it together with that.
	for i := range addons {
		if u.left.keep(addons[i].Namespace) {
			if err := u.keepBundles(ctx, &addons[i]); err != nil {
				return err
			}
		}
	}
	cma := &addonv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.AddOnName}}
	if err := u.client.Delete(ctx, cma); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete ClusterManagementAddOn %s: %w", v1alpha1.AddOnName, err)
	}
	if err := u.wait(ctx); err != nil {
		return err
	}
	err = u.client.DeleteAllOf(ctx, &addonv1beta1.AddOnDeploymentConfig{}, client.InNamespace(u.opts.namespace), configLabels)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete the AddOnDeploymentConfigs of the chart: %w", err)
	}
	return u.dropContents(ctx)
}

// dropContents deletes the files of bundles that are gone. The manager would do so, but
// only a while after them. While a bundle or a work is left they may be needed again.
func (u *uninstaller) dropContents(ctx context.Context) error {
	left, err := findLeftovers(ctx, u.client)
	if err != nil || len(left.live)+len(left.leaving) > 0 {
		return err
	}
	bundles := &metav1.PartialObjectMetadataList{}
	bundles.SetGroupVersionKind(fleet.SchemeGroupVersion.WithKind("BundleList"))
	err = u.client.List(ctx, bundles, client.Limit(1))
	if err != nil && !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
		return fmt.Errorf("list Bundles: %w", err)
	}
	if len(bundles.Items) > 0 {
		return nil
	}
	err = u.client.DeleteAllOf(ctx, &v1alpha1.Content{})
	if err != nil && !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
		return fmt.Errorf("delete the Contents that no bundle needs: %w", err)
	}
	return nil
}

// wait until every add-on is gone, or what is left is not ours to wait for.
func (u *uninstaller) wait(ctx context.Context) error {
	u.started = u.now()
	u.renewalAt = u.started
	for {
		addons, err := u.addons(ctx)
		if err != nil {
			return err
		}
		if len(addons) == 0 {
			fmt.Fprintln(u.out, "The add-on is gone from all clusters.")
			return nil
		}
		done, err := u.step(ctx, addons)
		if done || err != nil {
			return err
		}
		if err := sleep(ctx, u.opts.poll); err != nil {
			return fmt.Errorf("interrupted: %w", err)
		}
	}
}

// step decides for each add-on that is left, and reports when it changes.
func (u *uninstaller) step(ctx context.Context, addons []metav1.PartialObjectMetadata) (bool, error) {
	alive := u.managerAlive(ctx)
	waited := u.now().Sub(u.started)
	if !alive || waited >= u.opts.deadline {
		// Only then it matters what is left on the clusters.
		left, err := findLeftovers(ctx, u.client)
		if err != nil {
			return false, err
		}
		u.left = left
	}
	var ours []string
	for i := range addons {
		addon := &addons[i]
		if !controllerutil.ContainsFinalizer(addon, v1alpha1.FinalizerBundles) {
			continue
		}
		ours = append(ours, addon.Namespace)
		if err := u.act(ctx, addon, u.decide(addon, alive, waited)); err != nil {
			return false, err
		}
	}
	u.progress(addons, ours, alive)
	if waited < u.opts.deadline+u.opts.grace {
		return false, nil
	}
	if len(ours) > 0 {
		return false, fmt.Errorf("after %s, on %s: %w: see its log, then uninstall again; nothing was removed from it",
			waited.Round(time.Second), names(ours), errStillHeld)
	}
	fmt.Fprintf(u.out, "After %s, ManagedClusterAddOn %s is left on %s. Nothing of this add-on holds it; OCM ends it when it can.\n",
		waited.Round(time.Second), v1alpha1.AddOnName, namesOf(addons))
	return true, nil
}

type action int

const (
	wait    action = iota
	letGo          // tell the manager to let go without the bundles
	release        // remove our finalizer in the manager's place
)

// decide what to do about an add-on that has our finalizer. With a manager it is the
// manager's to remove; without one it goes as soon as it protects nothing, and at
// the deadline in any case.
func (u *uninstaller) decide(addon *metav1.PartialObjectMetadata, alive bool, waited time.Duration) action {
	_, kept := addon.Annotations[v1alpha1.AnnotationKeepBundles]
	late := waited >= u.opts.deadline
	switch {
	case !alive && !addon.DeletionTimestamp.IsZero() && (late || kept || !u.left.on(addon.Namespace)):
		return release
	case late && !kept:
		// A cluster that cannot be reached, whose works are being deleted for ever.
		return letGo
	}
	return wait
}

func (u *uninstaller) act(ctx context.Context, addon *metav1.PartialObjectMetadata, do action) error {
	switch do {
	case letGo:
		fmt.Fprintf(u.out, "Cluster %s did not remove its bundles in %s; its agent goes without them.\n",
			addon.Namespace, u.opts.deadline)
		return u.keepBundles(ctx, addon)
	case release:
		fmt.Fprintf(u.out, "No manager answers: the finalizer of ManagedClusterAddOn %s/%s is removed in its place.\n",
			addon.Namespace, addon.Name)
		before := addon.DeepCopy()
		controllerutil.RemoveFinalizer(addon, v1alpha1.FinalizerBundles)
		err := u.client.Patch(ctx, addon, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("remove the finalizer of ManagedClusterAddOn %s/%s: %w", addon.Namespace, addon.Name, err)
		}
	case wait:
	}
	return nil
}

func (u *uninstaller) keepBundles(ctx context.Context, addon *metav1.PartialObjectMetadata) error {
	if _, kept := addon.Annotations[v1alpha1.AnnotationKeepBundles]; kept {
		return nil
	}
	before := addon.DeepCopy()
	metav1.SetMetaDataAnnotation(&addon.ObjectMeta, v1alpha1.AnnotationKeepBundles, "true")
	if err := u.client.Patch(ctx, addon, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("annotate ManagedClusterAddOn %s/%s: %w", addon.Namespace, addon.Name, err)
	}
	return nil
}

// addons lists the ManagedClusterAddOns of all clusters; the field selector is also
// what the permission to list is limited to.
func (u *uninstaller) addons(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(schema.GroupVersion(addonv1beta1.GroupVersion).WithKind("ManagedClusterAddOnList"))
	if err := u.client.List(ctx, list, client.MatchingFields{"metadata.name": v1alpha1.AddOnName}); err != nil {
		return nil, fmt.Errorf("list ManagedClusterAddOns: %w", err)
	}
	return list.Items, nil
}

// managerAlive watches the Lease move, and so needs no agreement of clocks. Until it
// was silent for long enough, a manager is taken to be there.
func (u *uninstaller) managerAlive(ctx context.Context) bool {
	lease := &coordinationv1.Lease{}
	err := u.client.Get(ctx, client.ObjectKey{Namespace: u.opts.namespace, Name: u.opts.lease}, lease)
	if err != nil && !apierrors.IsNotFound(err) {
		// Cannot be told: not a reason to take its finalizers away.
		u.renewalAt = u.now()
		return true
	}
	renewal := ""
	if err == nil && lease.Spec.RenewTime != nil {
		renewal = lease.Spec.RenewTime.UTC().Format(time.RFC3339Nano)
	}
	if renewal != "" && renewal != u.renewal {
		u.renewal, u.renewalAt = renewal, u.now()
	}
	return u.now().Sub(u.renewalAt) < u.opts.silence
}

// progress prints one line for each change, not one for each look.
func (u *uninstaller) progress(addons []metav1.PartialObjectMetadata, ours []string, alive bool) {
	manager := "the manager runs"
	if !alive {
		manager = "no manager answers"
	}
	status := fmt.Sprintf("waiting for the add-on to go from %d clusters (%s); %d still protect bundles; %s",
		len(addons), namesOf(addons), len(ours), manager)
	if status != u.lastStatus {
		fmt.Fprintln(u.out, status)
		u.lastStatus = status
	}
}

func namesOf(addons []metav1.PartialObjectMetadata) string {
	var clusters []string
	for i := range addons {
		clusters = append(clusters, addons[i].Namespace)
	}
	return names(clusters)
}

// names of at most five clusters, and how many more.
func names(clusters []string) string {
	const shown = 5
	if len(clusters) <= shown {
		return strings.Join(clusters, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(clusters[:shown], ", "), len(clusters)-shown)
}
