package main

import (
	"github.com/spf13/cobra"

	env "open-cluster-management.io/fleet-addon/test/env"
)

func downCommand(t *target) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop all processes of the environment and remove its data",
		Example: `  env down
  env down --name e2e --keep-data`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := t.stateDir()
			if err != nil {
				return err
			}
			return env.Down(cmd.Context(), dir, keep, cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&keep, "keep-data", false, "keep logs and data; the next up starts on them")
	return cmd
}
