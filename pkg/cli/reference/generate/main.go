// Command generate writes the reference of fleetctl into the file that it is given.
package main

import (
	"bytes"
	"fmt"
	"os"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/fleet-addon/pkg/cli"
	"open-cluster-management.io/fleet-addon/pkg/cli/reference"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want the file to write and got %d arguments", len(args))
	}
	var out bytes.Buffer
	if err := reference.Write(&out, cli.NewCommand(genericclioptions.NewTestIOStreamsDiscard())); err != nil {
		return err
	}
	return os.WriteFile(args[0], out.Bytes(), 0o644)
}
