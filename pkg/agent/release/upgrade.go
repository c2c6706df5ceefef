package release

import (
	"context"

	"helm.sh/helm/v3/pkg/action"
)

// upgrade makes the next revision of a release.
func upgrade(ctx context.Context, s *session) error {
	o := s.want.Options.Helm
	up := action.NewUpgrade(s.cfg)
	up.Namespace = s.want.Key.Namespace
	up.Description = s.want.DeploymentID
	up.Labels = s.want.labels()
	up.Timeout = hookTimeout
	up.MaxHistory = s.want.history()
	// Without values Helm would take those of the last revision.
	up.ResetValues = true
	up.Force = o.Force
	up.TakeOwnership = o.TakeOwnership
	up.SkipSchemaValidation = o.SkipSchemaValidation
	up.EnableDNS = !o.DisableDNS
	up.PostRenderer = postRenderer{session: s}
	_, err := up.RunWithContext(ctx, s.want.Key.Name, s.source.chart, s.source.input.Values)
	return err
}
