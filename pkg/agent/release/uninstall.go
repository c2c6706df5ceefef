package release

import (
	"context"
	"fmt"

	"helm.sh/helm/v3/pkg/action"
	helmrelease "helm.sh/helm/v3/pkg/release"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/fleet-addon/pkg/agent/fault"
	"open-cluster-management.io/fleet-addon/pkg/manifest"
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
func uninstall(ctx context.Context, s *session) error {
	if err := amend(ctx, s); err != nil {
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

// amend makes the last revision one that Helm can uninstall, and with which nothing
// stays: Helm goes by that revision alone. Its objects whose kind the API server does
// not know any more are taken out (their CRD went before them, and they with it; Helm
// would refuse the rest, for ever). What earlier revisions made is added, if the last
// one was to remove it and failed or was cut off.
func amend(ctx context.Context, s *session) error {
	revisions, err := history(s.cfg, s.want.Key)
	if err != nil || len(revisions) == 0 {
		return err
	}
	top := revisions[len(revisions)-1]
	objects, err := manifest.Documents([]byte(top.Manifest))
	if err != nil {
		return err
	}
	var out []*unstructured.Unstructured
	for _, o := range objects {
		gvk := o.GroupVersionKind()
		_, err := s.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		switch {
		case meta.IsNoMatchError(err):
		case err != nil:
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		default:
			out = append(out, o)
		}
	}
	forgotten, err := s.forgotten(ctx)
	if err != nil {
		return err
	}
	if len(out) == len(objects) && len(forgotten) == 0 {
		return nil
	}
	return s.rewrite(top, append(out, forgotten...))
}

// forgotten are the objects of a release that is not as its last revision says.
func (s *session) forgotten(ctx context.Context) ([]*unstructured.Unstructured, error) {
	if top, _ := s.state.top(); top.Status == helmrelease.StatusDeployed {
		return nil, nil
	}
	below, err := s.state.below(s.place)
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for _, o := range below {
		live, err := s.live(ctx, o)
		switch {
		case apierrors.IsNotFound(err) || err == nil && (live == nil || !s.owned(live)):
			continue
		case err != nil:
			return nil, fmt.Errorf("%s of an earlier revision: %w", o, err)
		}
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(o.GroupVersionKind)
		u.SetNamespace(o.Namespace)
		u.SetName(o.Name)
		out = append(out, u)
	}
	return out, nil
}

func (s *session) rewrite(r *helmrelease.Release, objects []*unstructured.Unstructured) error {
	text, err := manifest.Render(objects)
	if err != nil {
		return err
	}
	r.Manifest = string(text)
	return s.cfg.Releases.Update(r)
}
