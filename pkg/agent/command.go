package agent

import (
	"io"
	stdlog "log"
	"log/slog"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// NewCommand returns the command `agent`. It runs until its context ends.
func NewCommand() *cobra.Command {
	o := NewOptions()
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Deploy the bundles of a managed cluster and report to the hub",
		Long: `Run the agent of a managed cluster. It deploys the BundleDeployments of its
namespace as Helm releases, watches their health, and reports to the hub. The
managed cluster is the one it runs in, or the one of KUBECONFIG.`,
		Example: `  fleet-addon agent --cluster-name dev --namespace open-cluster-management-agent-addon \
    --hub-kubeconfig /var/run/hub/kubeconfig`,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Validate(); err != nil {
				return err
			}
			level, err := o.level()
			if err != nil {
				return err
			}
			log := logr.FromSlogHandler(slog.NewJSONHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
			// Helm prints warnings that quote values through the standard logger.
			stdlog.SetOutput(io.Discard)
			ctrl.SetLogger(log)
			klog.SetLogger(log)
			return Run(logr.NewContext(cmd.Context(), log), o)
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
