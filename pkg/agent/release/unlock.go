package release

import (
	"context"
	"fmt"

	helmrelease "helm.sh/helm/v3/pkg/release"
)

// unlock marks the newest revision failed if it is pending: only an agent that
// was killed leaves one, and Helm refuses to work on it. The upgrade that
// follows takes over what it had made, and prune removes what the new revision
// does not have; so a kill between any two of these steps loses nothing, and
// there is no rollback that would bring the old version back for a moment.
func unlock(_ context.Context, s *session) error {
	revisions, err := history(s.cfg, s.want.Key)
	if err != nil || len(revisions) == 0 {
		return err
	}
	top := revisions[len(revisions)-1]
	if !top.Info.Status.IsPending() {
		return nil
	}
	top.SetStatus(helmrelease.StatusFailed, fmt.Sprintf("left in %s by an agent that was stopped", top.Info.Status))
	return s.cfg.Releases.Update(top)
}
