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

	"open-cluster-management.io/fleet-addon/pkg/manifest"
	"open-cluster-management.io/fleet-addon/pkg/render"
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

// leftovers names the objects of earlier revisions that the deployed one lacks.
func leftovers(st State, place func(manifest.Object) string) ([]manifest.Object, error) {
	if top, ok := st.top(); !ok || top.Status != helmrelease.StatusDeployed {
		return nil, nil
	}
	return st.below(place)
}

// below names the objects of the revisions from the one before the newest down to
// the last that Helm had finished, that the newest one lacks. place gives the
// namespace in which an object of the manifest really is: the same object may be
// written with and without it.
func (s State) below(place func(manifest.Object) string) ([]manifest.Object, error) {
	top, _ := s.top()
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
	for i := len(s.Revisions) - 2; i >= 0; i-- {
		rev := s.Revisions[i]
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
	client, err := s.resource(o)
	if err != nil || client == nil {
		return err
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

// resource is the client for an object of a manifest; nil if the API server does
// not know its kind.
func (s *session) resource(o manifest.Object) (dynamic.ResourceInterface, error) {
	mapping, err := s.mapper.RESTMapping(o.GroupKind(), o.Version)
	switch {
	case meta.IsNoMatchError(err):
		return nil, nil
	case err != nil:
		return nil, err
	case mapping.Scope.Name() == meta.RESTScopeNameNamespace:
		return s.dynamic.Resource(mapping.Resource).Namespace(s.place(o)), nil
	}
	return s.dynamic.Resource(mapping.Resource), nil
}

// owned tells whether a live object is still this release's, and may go.
func (s *session) owned(o metav1.Object) bool {
	return o.GetDeletionTimestamp() == nil && o.GetLabels()[LabelOwner] == s.want.Owner.Name &&
		s.belongs(o) && o.GetAnnotations()[render.AnnotationPolicy] != render.PolicyKeep
}
