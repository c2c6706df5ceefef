// Command fleet-addon is the one binary of the add-on: the manager on the hub, the
// agent on the managed clusters, and what `helm uninstall` runs.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/fleet-addon/pkg/addon"
	"open-cluster-management.io/fleet-addon/pkg/agent"
)

func main() {
	if err := newCommand().ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "fleet-addon",
		Short:         "Runs Fleet bundles on an Open Cluster Management hub",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newManagerCommand(), agent.NewCommand(), addon.NewUninstallCommand())
	return root
}
