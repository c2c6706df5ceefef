package addon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// hubFake stands for a hub: its clock moves with each look at the add-ons, it
// deletes them after the ClusterManagementAddOn, and its manager may be dead or deaf.
type hubFake struct {
	client.Client
	t       *testing.T
	clock   time.Time
	manager func(h *hubFake, addon *addonv1beta1.ManagedClusterAddOn)
}

func (h *hubFake) now() time.Time { return h.clock }

// look is what happens on the hub between two looks of the uninstaller.
func (h *hubFake) look(ctx context.Context) {
	h.t.Helper()
	h.clock = h.clock.Add(5 * time.Second)
	cma := &addonv1beta1.ClusterManagementAddOn{}
	if h.Get(ctx, client.ObjectKey{Name: "fleet"}, cma) == nil {
		return
	}
	addons := &addonv1beta1.ManagedClusterAddOnList{}
	if err := h.List(ctx, addons); err != nil {
		h.t.Fatal(err)
	}
	for i := range addons.Items {
		addon := &addons.Items[i]
		if addon.DeletionTimestamp.IsZero() {
			if err := h.Delete(ctx, addon); err != nil {
				h.t.Fatal(err)
			}
			continue
		}
		if h.manager != nil {
			h.manager(h, addon)
		}
	}
	if h.manager != nil {
		lease := &coordinationv1.Lease{}
		if err := h.Get(ctx, client.ObjectKey{Namespace: "ocm", Name: LeaseName}, lease); err != nil {
			h.t.Fatal(err)
		}
		lease.Spec.RenewTime = &metav1.MicroTime{Time: h.clock}
		if err := h.Update(ctx, lease); err != nil {
			h.t.Fatal(err)
		}
	}
}

// drops lets go at once of what keeps its bundles or has none.
func drops(h *hubFake, addon *addonv1beta1.ManagedClusterAddOn) {
	works := &workv1.ManifestWorkList{}
	if err := h.List(context.Background(), works, client.InNamespace(addon.Namespace)); err != nil {
		h.t.Fatal(err)
	}
	if _, kept := addon.Annotations[v1alpha1.AnnotationKeepBundles]; !kept && len(works.Items) > 0 {
		return
	}
	addon.Finalizers = nil
	if err := h.Update(context.Background(), addon); err != nil {
		h.t.Fatal(err)
	}
}

func deaf(*hubFake, *addonv1beta1.ManagedClusterAddOn) {}

func mca(cluster string) *addonv1beta1.ManagedClusterAddOn {
	return &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: cluster, Name: "fleet", Finalizers: []string{v1alpha1.FinalizerBundles},
	}}
}

func bundleWork(cluster, bundle string) *workv1.ManifestWork {
	return &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{
		Namespace: cluster, Name: "w-" + bundle,
		Labels:      map[string]string{v1alpha1.LabelBundle: bundle},
		Annotations: map[string]string{v1alpha1.AnnotationBundle: "apps/" + bundle},
	}}
}

// terminating is a work that its klusterlet does not let go.
func terminating(work *workv1.ManifestWork) *workv1.ManifestWork {
	work.Finalizers = []string{"cluster.open-cluster-management.io/manifest-work-cleanup"}
	now := metav1.Now()
	work.DeletionTimestamp = &now
	return work
}

func TestUninstall(t *testing.T) {
	for name, tc := range map[string]struct {
		manager func(*hubFake, *addonv1beta1.ManagedClusterAddOn)
		objects []client.Object
		// wantIn and wantLess: what the output says, and what it must not say.
		wantIn, wantLess []string
		wantEvents       int
		wantWorks        int
		wantErr          error
		wantWithin       time.Duration
	}{
		"no bundles: everything goes": {
			manager:    drops,
			objects:    []client.Object{mca("dev"), mca("prod")},
			wantIn:     []string{"No bundle stays", "gone from all clusters"},
			wantLess:   []string{"STAY"},
			wantWithin: 30 * time.Second,
		},
		"bundles stay, and it is said": {
			manager: drops,
			objects: []client.Object{
				mca("dev"), mca("prod"), bundleWork("dev", "web"), bundleWork("prod", "web"), bundleWork("dev", "db"),
				bundle("web"), bundle("db"),
			},
			wantIn: []string{
				"still deployed and STAY on their clusters: 2", "apps/web (clusters: 2)", "apps/db (clusters: 1)",
				"install the chart again", "gone from all clusters",
			},
			wantEvents: 2, wantWorks: 3, wantWithin: 30 * time.Second,
		},
		"a bundle that is gone from the hub gets no event": {
			manager: drops, objects: []client.Object{mca("dev"), bundleWork("dev", "web")},
			wantIn: []string{"apps/web (clusters: 1)"}, wantLess: []string{"No event"}, wantWorks: 1, wantWithin: 30 * time.Second,
		},
		"the manager is dead: its finalizers go": {
			objects: []client.Object{mca("dev"), bundleWork("dev", "web"), mca("prod")},
			wantIn:  []string{"No manager answers: the finalizer of ManagedClusterAddOn dev/fleet", "gone from all clusters"},
			// The silence, not the deadline.
			wantWorks: 1, wantWithin: 60 * time.Second,
		},
		"a cluster out of reach, its works being deleted": {
			manager: drops, objects: []client.Object{mca("dev"), terminating(bundleWork("dev", "web"))},
			wantIn:    []string{"still removing bundles: 1", "Cluster dev did not remove its bundles in 2m0s", "gone from all clusters"},
			wantWorks: 1, wantWithin: 150 * time.Second,
		},
		"the same with a dead manager": {
			objects:   []client.Object{mca("dev"), terminating(bundleWork("dev", "web"))},
			wantIn:    []string{"No manager answers", "gone from all clusters"},
			wantWorks: 1, wantWithin: 150 * time.Second,
		},
		"a manager that does not let go is not removed": {
			manager: deaf, objects: []client.Object{mca("dev"), mca("prod")},
			wantErr: errStillHeld, wantLess: []string{"No manager answers"}, wantWithin: 160 * time.Second,
		},
		"somebody else's finalizer is not waited for": {
			manager: deaf,
			objects: []client.Object{func() client.Object {
				addon := mca("dev")
				addon.Finalizers = []string{"example.com/other"}
				return addon
			}()},
			wantIn: []string{"Nothing of this add-on holds it"}, wantWithin: 160 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			hub := newHub(t, tc.manager, tc.objects)
			out := &bytes.Buffer{}
			started := hub.clock
			u := &uninstaller{client: hub.Client, out: out, now: hub.now, opts: uninstallOptions{
				namespace: "ocm", lease: LeaseName, deadline: 2 * time.Minute, grace: 30 * time.Second,
				silence: 40 * time.Second, poll: time.Microsecond,
			}}
			if err := u.run(context.Background()); !errors.Is(err, tc.wantErr) {
				t.Fatalf("got %v, want %v\n%s", err, tc.wantErr, out)
			}
			for _, want := range tc.wantIn {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not in:\n%s", want, out)
				}
			}
			for _, unwanted := range tc.wantLess {
				if strings.Contains(out.String(), unwanted) {
					t.Errorf("%q is in:\n%s", unwanted, out)
				}
			}
			got := fmt.Sprintf("%d events, %d works", len(list(t, hub, &corev1.EventList{})), len(list(t, hub, &workv1.ManifestWorkList{})))
			if want := fmt.Sprintf("%d events, %d works", tc.wantEvents, tc.wantWorks); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if took := hub.clock.Sub(started); took > tc.wantWithin {
				t.Errorf("took %s, want at most %s", took, tc.wantWithin)
			}
			wantConfigs := []string{"ocm/other"}
			if tc.wantErr != nil {
				wantConfigs = []string{"ocm/fleet-agent-0.1.0", "ocm/other"}
			}
			if diff := cmp.Diff(wantConfigs, list(t, hub, &addonv1beta1.AddOnDeploymentConfigList{}), sorted); diff != "" {
				t.Errorf("configs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKeepIsNotForClustersThatAreCleaningUp(t *testing.T) {
	found := leftovers{clusters: map[string]map[string]bool{}, live: map[string]int{}, leaving: map[string]int{}}
	for _, work := range []*workv1.ManifestWork{bundleWork("dev", "web"), terminating(bundleWork("stg", "web"))} {
		found.add(&metav1.PartialObjectMetadata{ObjectMeta: work.ObjectMeta})
	}
	got := map[string]bool{"dev": found.keep("dev"), "stg": found.keep("stg"), "prod": found.keep("prod")}
	// prod has nothing yet, but a rollout may be on its way there.
	if diff := cmp.Diff(map[string]bool{"dev": true, "stg": false, "prod": true}, got); diff != "" {
		t.Errorf("keep (-want +got):\n%s", diff)
	}
}

func TestReportIsBounded(t *testing.T) {
	found := leftovers{clusters: map[string]map[string]bool{}, live: map[string]int{}, leaving: map[string]int{}}
	for i := range 2 * maxNamed {
		work := bundleWork("dev", fmt.Sprintf("b%03d", i))
		found.add(&metav1.PartialObjectMetadata{ObjectMeta: work.ObjectMeta})
	}
	out := &bytes.Buffer{}
	found.print(out)
	if got := strings.Count(out.String(), " (clusters: 1)"); got != maxNamed {
		t.Errorf("%d bundles named, want %d", got, maxNamed)
	}
	if !strings.Contains(out.String(), "and 100 more") {
		t.Errorf("the rest is not counted:\n%s", out)
	}
}

func bundle(name string) *fleet.Bundle {
	return &fleet.Bundle{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: name}}
}

func newHub(t *testing.T, manager func(*hubFake, *addonv1beta1.ManagedClusterAddOn), objects []client.Object) *hubFake {
	t.Helper()
	scheme, err := uninstallScheme()
	if err != nil {
		t.Fatal(err)
	}
	hub := &hubFake{t: t, clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), manager: manager}
	base := append([]client.Object{
		&addonv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "fleet"}},
		&addonv1beta1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ocm", Name: "fleet-agent-0.1.0", Labels: configLabels,
		}},
		&addonv1beta1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ocm", Name: "other"}},
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ocm", Name: LeaseName}},
	}, objects...)
	byName := func(object client.Object) []string { return []string{object.GetName()} }
	hub.Client = interceptor.NewClient(
		fake.NewClientBuilder().WithScheme(scheme).WithObjects(base...).
			WithIndex(&addonv1beta1.ManagedClusterAddOn{}, "metadata.name", byName).Build(),
		interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if _, ok := list.(*metav1.PartialObjectMetadataList); ok && list.GetObjectKind().GroupVersionKind().Kind == "ManagedClusterAddOnList" {
				hub.look(ctx)
			}
			return c.List(ctx, list, opts...)
		}})
	return hub
}

func list(t *testing.T, hub *hubFake, list client.ObjectList) []string {
	t.Helper()
	if err := hub.List(context.Background(), list); err != nil {
		t.Fatal(err)
	}
	var names []string
	if err := meta.EachListItem(list, func(object runtime.Object) error {
		accessor, err := meta.Accessor(object)
		if err == nil {
			names = append(names, accessor.GetNamespace()+"/"+accessor.GetName())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return names
}

func TestUninstallDropsContentsOfBundlesThatAreGone(t *testing.T) {
	for name, tc := range map[string]struct {
		objects      []client.Object
		wantContents int
	}{
		"nothing is left":                {},
		"a bundle without works is left": {objects: []client.Object{bundle("web")}, wantContents: 1},
		"a work is left":                 {objects: []client.Object{bundleWork("dev", "web")}, wantContents: 1},
		"a work is being deleted":        {objects: []client.Object{terminating(bundleWork("dev", "web"))}, wantContents: 1},
	} {
		t.Run(name, func(t *testing.T) {
			content := &v1alpha1.Content{ObjectMeta: metav1.ObjectMeta{Name: "s-1"}}
			hub := newHub(t, drops, append(tc.objects, content))
			u := &uninstaller{client: hub.Client, out: &bytes.Buffer{}, now: hub.now}
			if err := u.dropContents(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := len(list(t, hub, &v1alpha1.ContentList{})); got != tc.wantContents {
				t.Errorf("%d Contents, want %d", got, tc.wantContents)
			}
		})
	}
}
