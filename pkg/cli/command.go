package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// NewCommand returns fleetctl.
func NewCommand(streams genericclioptions.IOStreams) *cobra.Command {
	root := &cobra.Command{
		Use:   "fleetctl",
		Short: "Write Fleet bundles, try them, and watch and steer how they roll out over an Open Cluster Management hub",
		Long: `Write Fleet bundles, try them, and watch and steer how they roll out over an Open
Cluster Management hub.

Exit status:
` + exitTable(),
		Example: `  # Where does the bundle hello of namespace fleet-demo stand?
  fleetctl rollout status hello -n fleet-demo

  # All that a command can do
  fleetctl rollout status --help`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w: see %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(
		newApplyCommand(streams),
		newTargetCommand(streams),
		newDeployCommand(streams),
		newDiffCommand(streams),
		newRolloutCommand(streams),
		newTestCommand(streams),
		newCompletionCommand(streams),
	)
	folder(root)
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			cmd.Example = `  # The same as fleetctl rollout status --help
  fleetctl help rollout status`
		}
	}
	return root
}

// folder makes a command one that only holds others: alone it prints its help, and a
// mistyped one below it is an error. Otherwise that would print the help and end with 0,
// which for a rollout says that it is complete.
func folder(cmd *cobra.Command) {
	// Cobra's own default, which it sets only where it is too late.
	cmd.SuggestionsMinimumDistance = 2
	cmd.Args = unknown
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// unknown refuses what is no command, and names those that are written alike.
func unknown(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("%s; did you mean %s? See %s --help", text, strings.Join(near, " or "), cmd.CommandPath())
	}
	return fmt.Errorf("%s: see %s --help", text, cmd.CommandPath())
}

// wants takes arguments with these names, no more and no fewer.
func wants(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return fmt.Errorf("%s wants %s and got %d: see %s --help", cmd.CommandPath(), strings.Join(names, " and "), len(args), cmd.CommandPath())
	}
}
