package addon

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// maxNamed bounds the bundles that are named and get an event.
const maxNamed = 100

// ReasonUninstalled is the reason of the event on a Bundle that outlives the add-on.
const ReasonUninstalled = "AddOnUninstalled"

// leftovers are the bundles' ManifestWorks that are there when the add-on goes.
type leftovers struct {
	// clusters by bundle ("namespace/name"), of works that nobody deletes.
	clusters map[string]map[string]bool
	// live and leaving count a cluster's works: those that stay, and those that are
	// being deleted.
	live, leaving map[string]int
}

// any says whether something stays.
func (l leftovers) any() bool { return len(l.clusters) > 0 }

// keep says whether the cluster's add-on must go without touching bundles. A cluster
// whose last works are being deleted still gets its agent's help with them.
func (l leftovers) keep(cluster string) bool {
	return l.any() && (l.live[cluster] > 0 || l.leaving[cluster] == 0)
}

// on says whether the cluster has works at all.
func (l leftovers) on(cluster string) bool { return l.live[cluster]+l.leaving[cluster] > 0 }

// findLeftovers reads the metadata of all works that carry the bundle label.
func findLeftovers(ctx context.Context, c client.Client) (leftovers, error) {
	found := leftovers{clusters: map[string]map[string]bool{}, live: map[string]int{}, leaving: map[string]int{}}
	works := &metav1.PartialObjectMetadataList{}
	works.SetGroupVersionKind(schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWorkList"))
	for {
		err := c.List(ctx, works, client.HasLabels{v1alpha1.LabelBundle}, client.Limit(500), client.Continue(works.Continue))
		if err != nil {
			return leftovers{}, fmt.Errorf("list the bundles' ManifestWorks: %w", err)
		}
		for i := range works.Items {
			found.add(&works.Items[i])
		}
		if works.Continue == "" {
			return found, nil
		}
	}
}

func (l leftovers) add(work *metav1.PartialObjectMetadata) {
	if !work.DeletionTimestamp.IsZero() {
		l.leaving[work.Namespace]++
		return
	}
	l.live[work.Namespace]++
	bundle := work.Annotations[v1alpha1.AnnotationBundle]
	if bundle == "" {
		bundle = work.Labels[v1alpha1.LabelBundleNamespace] + "/" + work.Labels[v1alpha1.LabelBundle]
	}
	if l.clusters[bundle] == nil {
		l.clusters[bundle] = map[string]bool{}
	}
	l.clusters[bundle][work.Namespace] = true
}

func (l leftovers) bundles() []string { return slices.Sorted(maps.Keys(l.clusters)) }

// print says what stays, and what can be done about it.
func (l leftovers) print(out io.Writer) {
	if clusters := len(l.leaving); clusters > 0 {
		fmt.Fprintf(out, "Clusters that are still removing bundles: %d\n", clusters)
	}
	if !l.any() {
		fmt.Fprintln(out, "No bundle stays. What stays on the clusters is the CRD of BundleDeployments and the role for it.")
		return
	}
	bundles := l.bundles()
	fmt.Fprintf(out, "Bundles that are still deployed and STAY on their clusters: %d\n", len(bundles))
	for _, bundle := range bundles[:min(len(bundles), maxNamed)] {
		fmt.Fprintf(out, "  %s (clusters: %d)\n", bundle, len(l.clusters[bundle]))
	}
	if more := len(bundles) - maxNamed; more > 0 {
		fmt.Fprintf(out, "  and %d more\n", more)
	}
	fmt.Fprintf(out, `Their Helm releases keep running; nothing updates, repairs or removes them any more.
  To take them up again, or to remove them properly: install the chart again; then delete the bundles, and uninstall.
  To find them on the hub:      kubectl get manifestwork -A -l %s
  To let go of them for good:   kubectl delete manifestwork -A -l %s
                                (the releases still run; remove them on each cluster with helm uninstall)
`, v1alpha1.LabelBundle, v1alpha1.LabelBundle)
}

// warn puts an event on each bundle that stays. It is a courtesy: what goes wrong is
// said, and stops nothing.
func (l leftovers) warn(ctx context.Context, c client.Client, out io.Writer, now metav1.Time) {
	bundles := l.bundles()
	for _, bundle := range bundles[:min(len(bundles), maxNamed)] {
		err := warnBundle(ctx, c, bundle, len(l.clusters[bundle]), now)
		if err != nil && !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
			fmt.Fprintf(out, "No event on bundle %s: %v\n", bundle, err)
		}
	}
}

func warnBundle(ctx context.Context, c client.Client, bundle string, clusters int, now metav1.Time) error {
	namespace, name, _ := strings.Cut(bundle, "/")
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(fleet.SchemeGroupVersion.WithKind("Bundle"))
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object); err != nil {
		return err
	}
	return c.Create(ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "fleet-addon-uninstall-"},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: fleet.SchemeGroupVersion.String(), Kind: "Bundle",
			Namespace: namespace, Name: name, UID: object.UID,
		},
		Type:   corev1.EventTypeWarning,
		Reason: ReasonUninstalled,
		Message: fmt.Sprintf("The fleet add-on was uninstalled. The bundle stays deployed on %d clusters; "+
			"nothing updates or removes it until the add-on is installed again.", clusters),
		Source:         corev1.EventSource{Component: "fleet-addon"},
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	})
}
