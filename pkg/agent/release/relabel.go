package release

import "context"

// relabel writes the wanted labels on the newest revision, in place: whether the
// objects stay when the bundle goes may change without a new deployment.
func relabel(_ context.Context, s *session) error {
	revisions, err := history(s.cfg, s.want.Key)
	if err != nil || len(revisions) == 0 {
		return err
	}
	top := revisions[len(revisions)-1]
	for k, v := range s.want.labels() {
		top.Labels[k] = v
	}
	return s.cfg.Releases.Update(top)
}
