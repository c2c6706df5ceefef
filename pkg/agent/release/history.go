package release

import (
	"errors"
	"fmt"
	"sort"

	"helm.sh/helm/v3/pkg/action"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
)

// look reads the history of the release from the API server.
func (s *session) look() error {
	revisions, err := history(s.cfg, s.want.Key)
	if err != nil {
		return err
	}
	s.state = State{}
	for _, r := range revisions {
		s.state.Revisions = append(s.state.Revisions, Revision{
			Number:      r.Version,
			Status:      r.Info.Status,
			Labels:      r.Labels,
			Description: r.Info.Description,
			Manifest:    r.Manifest,
		})
	}
	return nil
}

// history returns Helm's revisions of a release, oldest first; none is no error.
func history(cfg *action.Configuration, key Key) ([]*helmrelease.Release, error) {
	revisions, err := cfg.Releases.History(key.Name)
	if err != nil && !errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, fmt.Errorf("read release %s: %w", key, err)
	}
	sort.Slice(revisions, func(i, j int) bool { return revisions[i].Version < revisions[j].Version })
	return revisions, nil
}
