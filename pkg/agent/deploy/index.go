package deploy

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/agent/release"
)

const indexOwner = "owner"

// index finds the releases of a BundleDeployment in a cache of the metadata of
// our Helm Secrets on the whole cluster.
type index struct {
	cache cache.Cache
}

func newIndex(ctx context.Context, config *rest.Config, namespace string) (*index, error) {
	secret := helmSecret()
	c, err := cache.New(config, cache.Options{
		ByObject: map[client.Object]cache.ByObject{secret: {
			Label:     release.Selector(namespace),
			Transform: stripSecret,
		}},
	})
	if err != nil {
		return nil, fmt.Errorf("cache of releases: %w", err)
	}
	err = c.IndexField(ctx, secret, indexOwner, func(o client.Object) []string { return []string{o.GetLabels()[release.LabelOwner]} })
	if err != nil {
		return nil, fmt.Errorf("index of releases: %w", err)
	}
	return &index{cache: c}, nil
}

// records returns what the labels of the Helm Secrets of one owner say.
func (i *index) records(ctx context.Context, owner string) ([]release.Record, error) {
	list := helmSecrets()
	if err := i.cache.List(ctx, list, client.MatchingFields{indexOwner: owner}); err != nil {
		return nil, fmt.Errorf("list the releases of %s: %w", owner, err)
	}
	return recordsOf(list), nil
}

// owners returns the names of all BundleDeployments that have a release.
func (i *index) owners(ctx context.Context) ([]string, error) {
	list := helmSecrets()
	if err := i.cache.List(ctx, list); err != nil {
		return nil, fmt.Errorf("list releases: %w", err)
	}
	seen := map[string]bool{}
	var out []string
	for _, s := range list.Items {
		if owner := s.Labels[release.LabelOwner]; !seen[owner] {
			seen[owner] = true
			out = append(out, owner)
		}
	}
	return out, nil
}

// countReleases reads live how many releases there are.
func countReleases(ctx context.Context, live client.Reader, selector labels.Selector) (int, error) {
	list := helmSecrets()
	if err := live.List(ctx, list, client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return 0, fmt.Errorf("list releases: %w", err)
	}
	return len(keys(recordsOf(list))), nil
}

func recordsOf(list *metav1.PartialObjectMetadataList) []release.Record {
	var out []release.Record
	for _, s := range list.Items {
		if r, ok := release.RecordOf(s.Namespace, s.Labels); ok {
			out = append(out, r)
		}
	}
	return out
}

// keys returns each release once.
func keys(records []release.Record) []release.Key {
	seen := map[release.Key]bool{}
	var out []release.Key
	for _, r := range records {
		if !seen[r.Key] {
			seen[r.Key] = true
			out = append(out, r.Key)
		}
	}
	return out
}

// confirms tells whether the newest record of a release is the one that was seen
// when it was last read from Helm.
func confirms(records []release.Record, d release.Deployed) bool {
	var top release.Record
	for _, r := range records {
		if r.Key == d.Key && r.Revision > top.Revision {
			top = r
		}
	}
	return top.Revision == d.Top && top.Status == d.TopStatus
}

func stale(records []release.Record, wanted release.Key) []release.Key {
	var out []release.Key
	for _, k := range keys(records) {
		if k != wanted {
			out = append(out, k)
		}
	}
	return out
}

func helmSecret() *metav1.PartialObjectMetadata {
	s := &metav1.PartialObjectMetadata{}
	s.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	return s
}

func helmSecrets() *metav1.PartialObjectMetadataList {
	s := &metav1.PartialObjectMetadataList{}
	s.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	return s
}

// stripSecret keeps name and labels.
func stripSecret(obj any) (any, error) {
	if m, ok := obj.(*metav1.PartialObjectMetadata); ok {
		m.ManagedFields, m.Annotations, m.OwnerReferences = nil, nil, nil
	}
	return obj, nil
}
