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
	}
	flags.AddFlags(cmd.PersistentFlags())
	cmd.AddCommand(
		newStatusCommand(flags, streams),
		newPlanCommand(flags, streams),
		newExplainCommand(flags, streams),
		newPauseCommand(flags, streams),
		newResumeCommand(flags, streams),
		newHistoryCommand(flags, streams),
		newUndoCommand(flags, streams),
		newConfirmCommand(flags, streams),
		newSimulateCommand(streams),
	)
	return cmd
}
