package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	env "open-cluster-management.io/fleet-addon/test/env"
	"open-cluster-management.io/fleet-addon/test/env/internal/chart"
)

// chartFlags are those of all chart commands.
type chartFlags struct {
	target    *target
	cluster   string
	name      string
	namespace string
	wait      bool
	timeout   time.Duration
	verbose   bool
	values    chart.Values
}

func (f *chartFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.cluster, "cluster", env.HubName, "cluster to act on")
	flags.StringVar(&f.name, "release", "fleet-addon", "name of the release")
	flags.StringVar(&f.namespace, "namespace", "open-cluster-management-fleet", "namespace of the release, created if it is not there")
	flags.BoolVar(&f.wait, "wait", false, "wait until all is ready (uninstall: gone)")
	flags.DurationVar(&f.timeout, "timeout", 3*time.Minute, "limit for hooks and --wait")
	flags.BoolVar(&f.verbose, "verbose", false, "show what helm does")
}

func (f *chartFlags) addValues(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.values.Set, "set", nil, "value as KEY=VALUE, repeated")
	cmd.Flags().StringArrayVar(&f.values.Files, "values", nil, "file with values, repeated")
}

func (f *chartFlags) release(cmd *cobra.Command) (chart.Release, error) {
	dir, err := f.target.stateDir()
	if err != nil {
		return chart.Release{}, err
	}
	description, err := env.Load(dir)
	if err != nil {
		return chart.Release{}, err
	}
	cluster, err := description.Cluster(f.cluster)
	return chart.Release{
		Kubeconfig: cluster.Kubeconfig, Namespace: f.namespace, Name: f.name, Wait: f.wait, Timeout: f.timeout,
		Logf: func(format string, args ...any) {
			if f.verbose {
				fmt.Fprintf(cmd.ErrOrStderr(), "helm: "+format+"\n", args...)
			}
		},
	}, err
}

func installCommand(t *target) *cobra.Command {
	f := &chartFlags{target: t}
	cmd := &cobra.Command{
		Use:   "install-chart CHARTDIR",
		Short: "Install a chart on the hub",
		Example: `  env install-chart charts/fleet-addon --wait
  env install-chart charts/fleet-addon --set replicas=2 --values my-values.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			release, err := f.release(cmd)
			if err != nil {
				return err
			}
			installed, err := release.Install(cmd.Context(), args[0], f.values)
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "installed %s/%s, revision %d\n", f.namespace, f.name, installed.Version)
			}
			return err
		},
	}
	f.add(cmd)
	f.addValues(cmd)
	return cmd
}

func upgradeCommand(t *target) *cobra.Command {
	f := &chartFlags{target: t}
	cmd := &cobra.Command{
		Use:     "upgrade-chart CHARTDIR",
		Short:   "Upgrade the release on the hub; values of earlier revisions are not reused",
		Example: "  env upgrade-chart charts/fleet-addon --wait --set logLevel=debug",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			release, err := f.release(cmd)
			if err != nil {
				return err
			}
			upgraded, err := release.Upgrade(cmd.Context(), args[0], f.values)
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "upgraded %s/%s, revision %d\n", f.namespace, f.name, upgraded.Version)
			}
			return err
		},
	}
	f.add(cmd)
	f.addValues(cmd)
	return cmd
}

func uninstallCommand(t *target) *cobra.Command {
	f := &chartFlags{target: t}
	cmd := &cobra.Command{
		Use:     "uninstall-chart",
		Short:   "Uninstall the release from the hub",
		Example: "  env uninstall-chart --wait",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			release, err := f.release(cmd)
			if err != nil {
				return err
			}
			response, err := release.Uninstall(cmd.Context())
			if err != nil {
				return err
			}
			if response != nil && response.Info != "" {
				fmt.Fprintln(cmd.OutOrStdout(), response.Info)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "uninstalled %s/%s\n", f.namespace, f.name)
			return nil
		},
	}
	f.add(cmd)
	return cmd
}
