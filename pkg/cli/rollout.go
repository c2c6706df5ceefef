package cli

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// newRolloutCommand returns `fleetctl rollout`, with the flags that reach a hub.
func newRolloutCommand(streams genericclioptions.IOStreams) *cobra.Command {
	flags := genericclioptions.NewConfigFlags(true)
	cmd := &cobra.Command{
		Use:   "rollout",
		Short: "See where the rollout of a bundle stands, and steer it",
		Long: `See where the rollout of a bundle stands, and steer it.

All commands but simulate talk to the hub, with the flags of kubectl.`,
		Example: `  # Where does it stand, and why is it not further?
  fleetctl rollout status hello -n fleet-demo

  # Stop it where it is
  fleetctl rollout pause hello -n fleet-demo`,
	}
	folder(cmd)
	addHubFlags(cmd, flags)
	for _, about := range []*cobra.Command{
		newStatusCommand(flags, streams),
		newPlanCommand(flags, streams),
		newExplainCommand(flags, streams),
		newPauseCommand(flags, streams),
		newResumeCommand(flags, streams),
		newHistoryCommand(flags, streams),
		newUndoCommand(flags, streams),
		newConfirmCommand(flags, streams),
	} {
		if about.ValidArgsFunction == nil {
			about.ValidArgsFunction = arguments(bundleNames(flags))
		}
		cmd.AddCommand(about)
	}
	cmd.AddCommand(newSimulateCommand(streams))
	return cmd
}

// addHubFlags adds kubectl's flags to a command and those below it.
func addHubFlags(cmd *cobra.Command, flags *genericclioptions.ConfigFlags) {
	flags.AddFlags(cmd.PersistentFlags())
	if cache := cmd.PersistentFlags().Lookup("cache-dir"); cache != nil {
		// What help and reference say must not depend on whose machine this is.
		cache.DefValue = "$HOME/.kube/cache"
	}
	if flags.Namespace != nil {
		suggest(cmd, "namespace", namespaceNames(flags))
	}
}
