package main

import (
	"os"

	"github.com/spf13/cobra"

	env "open-cluster-management.io/fleet-addon/test/env"
	"open-cluster-management.io/fleet-addon/test/env/internal/toolchain"
)

// target is the environment that a command is about.
type target struct{ name, dir string }

func (t *target) stateDir() (string, error) { return env.StateDir(t.name, t.dir) }

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "env",
		Short: "Run a hub and managed clusters as local processes",
		Long: `Run an Open Cluster Management hub and managed clusters as local processes on 127.0.0.1.

Pods of the fleet-addon image run as processes too; all other pods are faked by kwok.
Programs are built from their Go modules into $` + toolchain.CacheEnv + ` (default ~/.cache/fleet-addon-env).`,
		Example: `  env up --fleet-addon-binary bin/fleet-addon
  env status
  export KUBECONFIG=$(env kubeconfig hub)
  env down`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	var t target
	cmd.PersistentFlags().StringVar(&t.name, "name", env.DefaultName, "name of the environment, for several side by side")
	cmd.PersistentFlags().StringVar(&t.dir, "dir", "", "state directory (default: run/NAME in the cache)")
	cmd.AddCommand(
		upCommand(&t), downCommand(&t), statusCommand(&t), kubeconfigCommand(&t), setBinaryCommand(&t), faultCommand(&t),
		installCommand(&t), upgradeCommand(&t), uninstallCommand(&t),
		buildCommand(), guardCommand(), superviseCommand(&t),
	)
	return cmd
}

func buildCommand() *cobra.Command {
	var link string
	cmd := &cobra.Command{
		Use:   "build [NAME...]",
		Short: "Build the programs into the cache and start nothing",
		Long: `Build the programs into the cache and start nothing. NAME is a folder of test/env/tools;
without any, all that an environment needs is built.`,
		Example: `  env build --link .local/bin

  # Fleet's own command line, which no environment needs
  env build fleet --link .local/bin`,
		RunE: func(cmd *cobra.Command, names []string) error {
			tools, err := toolchain.Ensure(cmd.Context(), cmd.OutOrStdout(), names...)
			if err != nil || link == "" {
				return err
			}
			return tools.Link(link)
		},
	}
	cmd.Flags().StringVar(&link, "link", "", "folder to put a link to every program into")
	return cmd
}

func guardCommand() *cobra.Command {
	return &cobra.Command{
		Use:    toolchain.GuardCommand + " -- COMMAND [ARGS]",
		Short:  "Run a command that ends when standard input does",
		Hidden: true,
		Args:   cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			code, err := toolchain.Guard(args)
			if err == nil && code != 0 {
				os.Exit(code)
			}
			return err
		},
	}
}
