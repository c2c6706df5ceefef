package release

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	helmrelease "helm.sh/helm/v3/pkg/release"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"open-cluster-management.io/fleet-addon/pkg/agent/manifest"
)

// Annotations by which Helm knows its objects.
const (
	annotationReleaseName      = "meta.helm.sh/release-name"
	annotationReleaseNamespace = "meta.helm.sh/release-namespace"
)

// prune removes objects that revisions below the deployed one had made and that
// are not part of it. Helm compares an upgrade with the last revision that it
// finished, so it forgets what revisions made that failed or were cut off. It is
// safe to do at any time and as often as one likes; a failure is logged and
// tried again with the next look.
func (s *session) prune(ctx context.Context) {
	log := logr.FromContextOrDiscard(ctx)
	left, err := leftovers(s.state, s.place)
	if err != nil {
		log.Error(err, "objects of earlier revisions cannot be found", "release", s.want.Key.String())
		return
	}
	for _, o := range left {
		if err := s.pruneObject(ctx, o); err != nil {
			log.Error(err, "object of an earlier revision cannot be removed", "release", s.want.Key.String(), "object", o.String())
		}
	}
}

// leftovers names the objects of the revisions from the one before the deployed
// one down to the last that Helm had finished, that the deployed one lacks. place
// gives the namespace in which an object of the manifest really is: the same
// object may be written with and without it.
func leftovers(st State, place func(manifest.Object) string) ([]manifest.Object, error) {
	top, ok := st.top()
	if !ok || top.Status != helmrelease.StatusDeployed {
		return nil, nil
	}
	current, err := manifest.Objects(top.Manifest)
	if err != nil {
		return nil, err
	}
	type id struct{ kind, namespace, name string }
	known := map[id]bool{}
	key := func(o manifest.Object) id { return id{o.GroupKind().String(), place(o), o.Name} }
	for _, o := range current {
		known[key(o)] = true
	}
	var left []manifest.Object
	for i := len(st.Revisions) - 2; i >= 0; i-- {
		rev := st.Revisions[i]
		objects, err := manifest.Objects(rev.Manifest)
		if err != nil {
			return nil, fmt.Errorf("revision %d: %w", rev.Number, err)
		}
		for _, o := range objects {
			if !known[key(o)] {
				known[key(o)] = true
				left = append(left, o)
			}
		}
		if rev.Status == helmrelease.StatusSuperseded || rev.Status == helmrelease.StatusDeployed {
			break
		}
	}
	return left, nil
}

// place is empty for a kind that is known to be cluster-scoped.
func (s *session) place(o manifest.Object) string {
	mapping, err := s.mapper.RESTMapping(o.GroupKind(), o.Version)
	switch {
	case err == nil && mapping.Scope.Name() != meta.RESTScopeNameNamespace:
		return ""
	case o.Namespace == "":
		return s.want.Key.Namespace
	}
	return o.Namespace
}

func (s *session) pruneObject(ctx context.Context, o manifest.Object) error {
	mapping, err := s.mapper.RESTMapping(o.GroupKind(), o.Version)
	if meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var client dynamic.ResourceInterface = s.dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		client = s.dynamic.Resource(mapping.Resource).Namespace(s.place(o))
	}
	live, err := client.Get(ctx, o.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if !s.owned(live) {
		return nil
	}
	logr.FromContextOrDiscard(ctx).Info("remove an object of an earlier revision", "release", s.want.Key.String(), "object", o.String())
	uid, background := live.GetUID(), metav1.DeletePropagationBackground
	err = client.Delete(ctx, o.Name, metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: &uid},
		PropagationPolicy: &background,
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// owned tells whether a live object is still this release's, and may go.
func (s *session) owned(o metav1.Object) bool {
	a := o.GetAnnotations()
	return o.GetDeletionTimestamp() == nil && o.GetLabels()[LabelOwner] == s.want.Owner.Name &&
		a[annotationReleaseName] == s.want.Key.Name && a[annotationReleaseNamespace] == s.want.Key.Namespace &&
		a[annotationPolicy] != policyKeep
}
