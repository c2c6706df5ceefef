package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// ExitError ends fleetctl with a status that a script can tell apart; it prints
// nothing.
type ExitError int

func (e ExitError) Error() string { return "the rollout is not complete" }

// ExitStatus is the status to end with after a command returned err.
func ExitStatus(err error) int {
	var exit ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return int(exit)
	}
	return 3
}

// NewCommand returns fleetctl.
func NewCommand(streams genericclioptions.IOStreams) *cobra.Command {
	root := &cobra.Command{
		Use:           "fleetctl",
		Short:         "Watch and steer how Fleet bundles roll out over an Open Cluster Management hub",
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.AddCommand(newRolloutCommand(streams))
	return root
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
