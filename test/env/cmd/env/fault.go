package main

import (
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	env "open-cluster-management.io/fleet-addon/test/env"
)

func setBinaryCommand(t *target) *cobra.Command {
	return &cobra.Command{
		Use:     "set-binary PATH",
		Short:   "Run a copy of this program as the pods of the fleet-addon image from now on; running ones restart with it",
		Example: "  go build -o bin/fleet-addon ./cmd/fleet-addon && env set-binary bin/fleet-addon",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			return order(cmd, t, env.Request{Action: env.ActionSetBinary, Path: path})
		},
	}
}

func faultCommand(t *target) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fault",
		Short: "Simulate faults",
		Example: `  env fault stop-agents stg
  env fault kill-pod hub
  env fault never-ready dev --namespace web --selector app=web`,
	}
	cmd.AddCommand(
		addonFlag(fault(t, env.ActionStopAgents, "CLUSTER", "Stop a cluster's registration and work agents")),
		fault(t, env.ActionStartAgents, "CLUSTER", "Start them again, and the add-on's agent if that was stopped too"),
		fault(t, env.ActionStopAPIServer, "CLUSTER|hub", "Stop a cluster's API server"),
		fault(t, env.ActionStartAPIServer, "CLUSTER|hub", "Start it again and wait until it answers"),
		needSelector(selecting(fault(t, env.ActionNeverReady, "CLUSTER", "Make pods that kwok runs unready and keep them so"))),
		fault(t, env.ActionReadyAgain, "CLUSTER", "End all never-ready faults of a cluster"),
		holdFlag(selecting(fault(t, env.ActionKillPod, "CLUSTER|hub", "Kill (SIGKILL) processes of our pods; they restart as with a kubelet"))),
		selecting(fault(t, env.ActionStopPod, "CLUSTER|hub", "Stop processes of our pods gracefully and keep them down")),
		selecting(fault(t, env.ActionStartPod, "CLUSTER|hub", "Let stopped or held pods run again")),
		fault(t, env.ActionRejoin, "CLUSTER", "Register a cluster anew whose ManagedCluster was deleted"),
	)
	return cmd
}

func fault(t *target, action, args, short string) *cobra.Command {
	cmd := &cobra.Command{
		Use:     action + " " + args,
		Short:   short,
		Example: "  env fault " + action + " dev",
		Args:    cobra.ExactArgs(1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		request := env.Request{Action: action, Cluster: args[0]}
		// Flags that the command does not have read as their zero values.
		request.Addon, _ = cmd.Flags().GetBool("addon")
		request.Hold, _ = cmd.Flags().GetBool("hold")
		request.Namespace, _ = cmd.Flags().GetString("namespace")
		request.Selector, _ = cmd.Flags().GetString("selector")
		if action == env.ActionNeverReady && request.Selector == "" {
			return errors.New("say which pods with --selector key=value")
		}
		return order(cmd, t, request)
	}
	return cmd
}

func addonFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().Bool("addon", false, "stop the add-on's own agent too")
	return cmd
}

func holdFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().Bool("hold", false, "keep it down until start-pod")
	return cmd
}

func selecting(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().String("namespace", "", "only pods of this namespace")
	cmd.Flags().String("selector", "", "only pods with these labels, such as app=web")
	return cmd
}

func needSelector(cmd *cobra.Command) *cobra.Command {
	cmd.Example = "  env fault never-ready dev --namespace web --selector app=web"
	return cmd
}

func order(cmd *cobra.Command, t *target, request env.Request) error {
	dir, err := t.stateDir()
	if err != nil {
		return err
	}
	return env.Do(cmd.Context(), dir, request)
}
