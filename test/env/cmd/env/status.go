package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	env "open-cluster-management.io/fleet-addon/test/env"
)

func statusCommand(t *target) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show clusters, processes, pods and faults; exit status 1 if the environment is not healthy",
		Example: `  env status
  env status -o json | jq '.pods[] | {cluster, name, ready, metricsAddress}'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := t.stateDir()
			if err != nil {
				return err
			}
			status, err := env.GetStatus(cmd.Context(), dir)
			if err != nil {
				return err
			}
			switch output {
			case "json":
				encoder := json.NewEncoder(cmd.OutOrStdout())
				encoder.SetIndent("", "  ")
				err = encoder.Encode(status)
			case "":
				err = printStatus(cmd.OutOrStdout(), status)
			default:
				return fmt.Errorf("output %q is not known, use json or none", output)
			}
			if err == nil && !status.Healthy {
				err = errors.New("the environment is not healthy; `env up` repairs it")
			}
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "json for programs")
	return cmd
}

func printStatus(out io.Writer, s env.Status) error {
	fmt.Fprintf(out, "environment %s: %s, healthy: %t, supervisor %d, state in %s\n", s.Name, s.Phase, s.Healthy, s.SupervisorPID, s.Dir)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nCLUSTER\tLABELS\tKUBECONFIG\tFAULTS")
	for _, c := range append([]env.Cluster{s.Hub}, s.Clusters...) {
		labels := strings.TrimPrefix(env.ClusterSpec{Labels: c.Labels}.String(), ":")
		fmt.Fprintf(w, "%s\t%s\t%s\t%v\n", c.Name, labels, c.Kubeconfig, s.Faults[c.Name])
	}
	fmt.Fprintln(w, "\nPROCESS\tPID\tRESTARTS\tLAST EXIT")
	for _, p := range s.Processes {
		pid := "-"
		if p.Running {
			pid = fmt.Sprint(p.PID)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", p.Name, pid, p.Restarts, p.LastExit)
	}
	fmt.Fprintln(w, "\nPOD\tSTATE\tREADY\tPID\tRESTARTS\tLOG")
	for _, p := range s.Pods {
		state := p.State
		if p.Reason != "" {
			state += " (" + p.Reason + ")"
		}
		fmt.Fprintf(w, "%s/%s/%s\t%s\t%t\t%d\t%d\t%s\n", p.Cluster, p.Namespace, p.Name, state, p.Ready, p.PID, p.Restarts, p.Log)
	}
	for _, problem := range s.Problems {
		fmt.Fprintf(w, "\nproblem: %s\n", problem)
	}
	return w.Flush()
}

func kubeconfigCommand(t *target) *cobra.Command {
	return &cobra.Command{
		Use:   "kubeconfig [CLUSTER]",
		Short: "Print the path of a cluster's kubeconfig, the hub's by default",
		Example: `  export KUBECONFIG=$(env kubeconfig)
  kubectl --kubeconfig $(env kubeconfig dev) get pods -A`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := t.stateDir()
			if err != nil {
				return err
			}
			description, err := env.Load(dir)
			if err != nil {
				return err
			}
			cluster, err := description.Cluster(append(args, env.HubName)[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), filepath.Clean(cluster.Kubeconfig))
			return err
		},
	}
}
