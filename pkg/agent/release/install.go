package release

import (
	"context"

	"helm.sh/helm/v3/pkg/action"
)

// install makes the first revision of a release, and its namespace.
func install(ctx context.Context, s *session) error {
	o := s.want.Options.Helm
	in := action.NewInstall(s.cfg)
	in.ReleaseName = s.want.Key.Name
	in.Namespace = s.want.Key.Namespace
	in.CreateNamespace = true
	// A name that was uninstalled with its history kept may be used again.
	in.Replace = true
	in.Description = s.want.DeploymentID
	in.Labels = s.want.labels()
	in.Timeout = hookTimeout
	in.Force = o.Force
	in.TakeOwnership = o.TakeOwnership
	in.SkipSchemaValidation = o.SkipSchemaValidation
	in.EnableDNS = !o.DisableDNS
	in.PostRenderer = postRenderer{session: s}
	_, err := in.RunWithContext(ctx, s.source.chart, s.source.input.Values)
	return err
}
