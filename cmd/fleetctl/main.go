// Command fleetctl is the command line for people who write bundles.
package main

import (
	"errors"
	"fmt"
	"os"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/fleet-addon/pkg/cli"
)

func main() {
	streams := genericclioptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	err := cli.NewCommand(streams).ExecuteContext(ctrl.SetupSignalHandler())
	var exit cli.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, "Error:", err)
	}
	os.Exit(cli.ExitStatus(err))
}
