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
		// Without these a mistyped command would print the help and end with 0, which says
		// that a rollout is complete.
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
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
