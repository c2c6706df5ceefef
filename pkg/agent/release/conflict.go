package release

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

// conflictText is how Helm says that an object belongs to somebody else; it keeps
// no type.
const conflictText = "invalid ownership metadata"

// passing looks at what stands in the way of an action that Helm refused for an
// object's owner. An object that is on its way out, or that belongs to another
// bundle of ours (which may be one that was renamed), can be free a moment later:
// that is worth another try. Everything else stays as Helm said it.
func (s *session) passing(ctx context.Context, err error) error {
	if err == nil || !strings.Contains(err.Error(), conflictText) {
		return err
	}
	for _, o := range s.rendered {
		live, getErr := s.live(ctx, o)
		if getErr != nil || live == nil || s.belongs(live) {
			continue
		}
		o.Namespace = s.place(o)
		owner := live.GetLabels()[LabelOwner]
		switch {
		case live.GetDeletionTimestamp() != nil:
			return fmt.Errorf("object is being deleted: %s: %w", o, err)
		case owner != "":
			return fmt.Errorf("object of another bundle: %s belongs to BundleDeployment %s: %w", o, owner, err)
		}
	}
	return err
}

// live reads an object of a manifest; nil if there is none.
func (s *session) live(ctx context.Context, o manifest.Object) (metav1.Object, error) {
	client, err := s.resource(o)
	if err != nil || client == nil {
		return nil, err
	}
	live, err := client.Get(ctx, o.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return live, nil
}

// belongs tells whether Helm takes an object for this release's.
func (s *session) belongs(o metav1.Object) bool {
	a := o.GetAnnotations()
	return a[annotationReleaseName] == s.want.Key.Name && a[annotationReleaseNamespace] == s.want.Key.Namespace
}
