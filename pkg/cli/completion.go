package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// shells are those that there is a script for, in the order of the help.
var shells = []string{"bash", "zsh", "fish"}

func newCompletionCommand(streams genericclioptions.IOStreams) *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that lets bash, zsh or fish complete fleetctl's commands",
		Long: `Print a script that lets bash, zsh or fish complete fleetctl's commands, flags, and,
as far as the hub answers at once and lets you list them, the names of bundles,
clusters, revisions and namespaces.`,
		Example: `  # In this shell
  source <(fleetctl completion bash)

  # In every zsh, if a folder of yours is in fpath
  fleetctl completion zsh > "${fpath[1]}/_fleetctl"

  # In every fish
  fleetctl completion fish > ~/.config/fish/completions/fleetctl.fish`,
		Args:      wants("SHELL"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(streams.Out, true)
			case "zsh":
				return root.GenZshCompletion(streams.Out)
			case "fish":
				return root.GenFishCompletion(streams.Out, true)
			}
			return fmt.Errorf("no completion for %q: want bash, zsh or fish", args[0])
		},
	}
}
