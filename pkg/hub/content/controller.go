package content

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	workv1 "open-cluster-management.io/api/work/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/outcome"
)

// IndexContent finds ManifestWorks by the content of their admitted id.
const IndexContent = "content.name"

// pageSize of the live list that confirms that no work needs a content.
const pageSize = 1000

// AddIndexes adds the indexes of this package.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &workv1.ManifestWork{}, IndexContent, func(o client.Object) []string {
		if name := nameOf(o); name != "" {
			return []string{name}
		}
		return nil
	}); err != nil {
		return fmt.Errorf("index ManifestWorks: %w", err)
	}
	return nil
}

// nameOf is the content of a work's admitted id.
func nameOf(w client.Object) string {
	name, _, _ := strings.Cut(w.GetAnnotations()[v1alpha1.AnnotationID], ":")
	return name
}

// Collector deletes Contents that nothing needs.
type Collector struct {
	// Reader reads from the cache, Live past it.
	Reader, Live client.Reader
	Store        *Store
	Clock        clock.PassiveClock
	// Grace is how long a Content has to be unneeded before it is deleted.
	Grace time.Duration
	// Notify is called for each bundle whose Content somebody else has deleted.
	Notify func(bundle types.NamespacedName)

	mu       sync.Mutex
	unneeded map[string]time.Time
}

// SetupWithManager starts the collector: its root kind is Content, of which only
// the metadata is read.
func (c *Collector) SetupWithManager(mgr ctrl.Manager) error {
	c.unneeded = map[string]time.Time{}
	return ctrl.NewControllerManagedBy(mgr).
		Named("content").
		For(&v1alpha1.Content{}, builder.OnlyMetadata).
		Complete(c)
}

// Reconcile looks at one Content, now and again after the grace.
func (c *Collector) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	recheck, err := c.collect(ctx, req.Name)
	return outcome.Result(ctx, recheck, err)
}

func (c *Collector) collect(ctx context.Context, name string) (time.Duration, error) {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Content"))
	err := c.Reader.Get(ctx, client.ObjectKey{Name: name}, object)
	if apierrors.IsNotFound(err) {
		c.forget(name)
		for _, bundle := range c.Store.lost(name) {
			c.Notify(bundle)
		}
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("get Content %s: %w", name, err)
	}
	needed, err := c.needed(ctx, name)
	if err != nil {
		return 0, err
	}
	if needed || !object.DeletionTimestamp.IsZero() {
		c.forget(name)
		return c.recheck(), nil
	}
	if left := c.unneededFor(name); left > 0 {
		return left, nil
	}
	if needed, err = c.workNeeds(ctx, name); err != nil || needed {
		return c.recheck(), err
	}
	ctrl.LoggerFrom(ctx).Info("Deleting a Content that no bundle and no work needs")
	return c.recheck(), c.Store.remove(ctx, object)
}

// needed answers from the cache; what is not known yet is needed.
func (c *Collector) needed(ctx context.Context, name string) (bool, error) {
	var bundles fleet.BundleList
	if err := c.Reader.List(ctx, &bundles, client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("list Bundles: %w", err)
	}
	keys := make([]types.NamespacedName, 0, len(bundles.Items))
	for i := range bundles.Items {
		keys = append(keys, client.ObjectKeyFromObject(&bundles.Items[i]))
	}
	if needed, known := c.Store.needed(name, keys); needed || !known {
		return true, nil
	}
	var works workv1.ManifestWorkList
	if err := c.Reader.List(ctx, &works, client.MatchingFields{IndexContent: name}, client.Limit(1)); err != nil {
		return false, fmt.Errorf("list ManifestWorks of Content %s: %w", name, err)
	}
	return len(works.Items) > 0, nil
}

// workNeeds asks the API server.
func (c *Collector) workNeeds(ctx context.Context, name string) (bool, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWorkList"))
	for {
		if err := c.Live.List(ctx, list, client.HasLabels{v1alpha1.LabelBundle},
			client.Limit(pageSize), client.Continue(list.Continue)); err != nil {
			return false, fmt.Errorf("list ManifestWorks live: %w", err)
		}
		for i := range list.Items {
			if nameOf(&list.Items[i]) == name {
				return true, nil
			}
		}
		if list.Continue == "" {
			return false, nil
		}
	}
}

// unneededFor remembers since when a content is not needed and returns how long
// it still has to be so.
func (c *Collector) unneededFor(name string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	since, ok := c.unneeded[name]
	if !ok {
		since = c.Clock.Now()
		c.unneeded[name] = since
	}
	return c.Grace - c.Clock.Since(since)
}

func (c *Collector) forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.unneeded, name)
}

// recheck is never zero: what is needed now may not be later, and no event says so.
func (c *Collector) recheck() time.Duration { return max(c.Grace, time.Second) }
