package release

import (
	"context"
	"fmt"

	"helm.sh/helm/v3/pkg/action"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/fleet-addon/pkg/agent/fault"
	"open-cluster-management.io/fleet-addon/pkg/agent/manifest"
)

// Remove removes a release of a BundleDeployment that is gone: with its objects,
// or, if the release says so, only Helm's records of it. A release of somebody
// else is left alone; one that does not exist is no error.
func (c *Client) Remove(ctx context.Context, owner Owner, key Key, observe Observer) error {
	s, err := c.session(Want{Owner: owner, Key: key})
	if err != nil {
		return err
	}
	err = remove(context.WithoutCancel(ctx), s)
	observe(ActionUninstall, err != nil)
	return fault.Wrap(err, "remove release %s", key)
}

func remove(ctx context.Context, s *session) error {
	if err := s.look(); err != nil {
		return err
	}
	top, ok := s.state.top()
	switch {
	case !ok || !s.want.Owner.owns(top.Labels):
		return nil
	case top.Labels[LabelKeep] == "true":
		return forget(s)
	}
	return uninstall(ctx, s)
}

// uninstall removes the objects of a release and then its records.
func uninstall(_ context.Context, s *session) error {
	if err := dropUnknownKinds(s); err != nil {
		return err
	}
	un := action.NewUninstall(s.cfg)
	un.IgnoreNotFound = true
	un.Timeout = hookTimeout
	un.DeletionPropagation = "background"
	_, err := un.Run(s.want.Key.Name)
	return err
}

// forget removes the records and leaves the objects.
func forget(s *session) error {
	revisions, err := history(s.cfg, s.want.Key)
	if err != nil {
		return err
	}
	for _, r := range revisions {
		if _, err := s.cfg.Releases.Delete(r.Name, r.Version); err != nil {
			return fmt.Errorf("revision %d: %w", r.Version, err)
		}
	}
	return nil
}

// move removes the releases of this owner under other keys.
func move(ctx context.Context, s *session) error {
	for len(s.want.Stale) > 0 {
		old, err := s.session(Want{Owner: s.want.Owner, Key: s.want.Stale[0]})
		if err != nil {
			return err
		}
		if err := remove(ctx, old); err != nil {
			return fmt.Errorf("remove the old release %s: %w", s.want.Stale[0], err)
		}
		s.want.Stale = s.want.Stale[1:]
	}
	return nil
}

// dropUnknownKinds takes objects out of the last revision whose kind the API
// server does not know any more. Their CRD went before them, and they with it;
// Helm would refuse to uninstall the rest, for ever.
func dropUnknownKinds(s *session) error {
	revisions, err := history(s.cfg, s.want.Key)
	if err != nil || len(revisions) == 0 {
		return err
	}
	top := revisions[len(revisions)-1]
	objects, err := manifest.Documents([]byte(top.Manifest))
	if err != nil {
		return err
	}
	var known []*unstructured.Unstructured
	for _, o := range objects {
		gvk := o.GroupVersionKind()
		_, err := s.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		switch {
		case meta.IsNoMatchError(err):
		case err != nil:
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		default:
			known = append(known, o)
		}
	}
	if len(known) == len(objects) {
		return nil
	}
	return s.rewrite(top, known)
}

func (s *session) rewrite(r *helmrelease.Release, objects []*unstructured.Unstructured) error {
	text, err := manifest.Render(objects)
	if err != nil {
		return err
	}
	r.Manifest = string(text)
	return s.cfg.Releases.Update(r)
}
