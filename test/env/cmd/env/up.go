package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	env "open-cluster-management.io/fleet-addon/test/env"
	"open-cluster-management.io/fleet-addon/test/env/internal/supervisor"
)

func upCommand(t *target) *cobra.Command {
	var o env.Options
	var clusters []string
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start the environment and leave it running; one that runs is checked and repaired",
		Long: `Start a hub and managed clusters, joined, accepted, labelled, in one ManagedClusterSet, and leave them running.

The first time all programs are built, which takes about 15 minutes on two cores; later starts take well under a minute.
A start that fails or is killed leaves no process behind.`,
		Example: `  env up
  env up --fleet-addon-binary bin/fleet-addon
  env up --name e2e --lease 10s --cluster dev1:environment=dev --cluster dev2:environment=dev \
    --cluster stg:environment=stg --cluster prod:environment=prod`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			o.Name, o.Dir = t.name, t.dir
			if o.Clusters, err = env.ParseClusters(clusters); err != nil {
				return err
			}
			if o.Binary != "" {
				if o.Binary, err = filepath.Abs(o.Binary); err != nil {
					return err
				}
			}
			return env.Up(cmd.Context(), o, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&clusters, "cluster", nil, "managed cluster as NAME[:KEY=VALUE,...], repeated (default dev, stg, prod, labelled environment=<name>)")
	flags.StringVar(&o.ClusterSet, "cluster-set", "", "ManagedClusterSet that the clusters are in (default fleet)")
	flags.DurationVar(&o.Lease, "lease", 0, "lease duration of the ManagedClusters; one is unreachable after five times that (default 1m)")
	flags.StringVar(&o.Binary, "fleet-addon-binary", "", "program that runs as the pods of the fleet-addon image")
	flags.DurationVar(&o.Timeout, "timeout", 0, "limit for the start, without building (default 5m)")
	return cmd
}

// superviseCommand is what up starts.
func superviseCommand(t *target) *cobra.Command {
	return &cobra.Command{
		Use:    env.SuperviseCommand,
		Short:  "Own the processes of an environment; started by up",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, fd := range []int{env.LockFD, env.LifelineFD, env.ProgressFD} {
				syscall.CloseOnExec(fd) // the children must hold neither lock nor pipes
			}
			lock := os.NewFile(env.LockFD, "lock")
			if lock == nil {
				return fmt.Errorf("%s is started by `env up` only", env.SuperviseCommand)
			}
			defer lock.Close()
			return supervisor.Run(cmd.Context(), t.dir, os.NewFile(env.LifelineFD, "lifeline"), os.NewFile(env.ProgressFD, "progress"))
		},
	}
}
