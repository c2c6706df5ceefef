package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/cli/groups"
)

// Exit statuses of `rollout status`, beside 0 for complete and 3 for an error.
const (
	exitBreached = ExitError(1)
	exitUnderWay = ExitError(2)
)

func newRolloutCommand(streams genericclioptions.IOStreams) *cobra.Command {
	flags := genericclioptions.NewConfigFlags(true)
	cmd := &cobra.Command{
		Use:   "rollout",
		Short: "See where the rollout of a bundle stands",
	}
	flags.AddFlags(cmd.PersistentFlags())
	cmd.AddCommand(newStatusCommand(flags, streams))
	return cmd
}

func newStatusCommand(flags *genericclioptions.ConfigFlags, streams genericclioptions.IOStreams) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "status BUNDLE",
		Short: "Show the groups of a bundle's rollout and what holds them back",
		Long: `Show the groups of a bundle's rollout and what holds them back.

The exit status is 0 when the rollout is complete, 1 when it is stopped by more
failures than a group tolerates, 2 while it is under way or held, and 3 when it
could not be read.`,
		Example: `  # Where does the bundle hello of namespace fleet-demo stand?
  fleetctl rollout status hello -n fleet-demo

  # The same for a script
  fleetctl rollout status hello -n fleet-demo -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := readRollout(cmd.Context(), flags, args[0])
			if err != nil {
				return err
			}
			if err := printRollout(streams.Out, r, output, time.Now()); err != nil {
				return err
			}
			return outcome(r)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "json or yaml: print the whole Rollout instead of a table")
	return cmd
}

// readRollout gets the Rollout of a bundle in the namespace of the flags.
func readRollout(ctx context.Context, flags *genericclioptions.ConfigFlags, bundle string) (*v1alpha1.Rollout, error) {
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	namespace, _, err := flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("reach the hub: %w", err)
	}
	r := &v1alpha1.Rollout{}
	err = c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: bundle}, r)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("no Rollout %s/%s: is there a Bundle of that name in the namespace, and does the manager run?", namespace, bundle)
	case meta.IsNoMatchError(err):
		return nil, errors.New("the cluster has no Rollouts: install the add-on's chart on the hub, or name the hub's kubeconfig with --kubeconfig or --context")
	case err != nil:
		return nil, fmt.Errorf("get Rollout %s/%s: %w", namespace, bundle, err)
	}
	return r, nil
}

// printRollout writes a Rollout as a table, or whole as json or yaml.
func printRollout(out io.Writer, r *v1alpha1.Rollout, format string, now time.Time) error {
	switch format {
	case "":
		return printTable(out, r, now)
	case "json", "yaml":
		r.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Rollout"))
		r.ManagedFields = nil
		data, err := json.MarshalIndent(r, "", "  ")
		if err == nil && format == "yaml" {
			data, err = yaml.JSONToYAML(data)
		}
		if err != nil {
			return fmt.Errorf("print Rollout %s/%s: %w", r.Namespace, r.Name, err)
		}
		_, err = fmt.Fprintf(out, "%s\n", data)
		return err
	}
	return fmt.Errorf("--output %q: want json or yaml", format)
}

func printTable(out io.Writer, r *v1alpha1.Rollout, now time.Time) error {
	s := r.Status
	head := fmt.Sprintf("%s/%s  revision %s", r.Namespace, r.Name, s.Revision)
	if s.Done != "" {
		head += "  " + s.Done + " done"
	}
	if s.Source != "" {
		head += "  by " + s.Source
	}
	lines := []string{head}
	if s.Message != "" {
		lines = append(lines, s.Reason+": "+s.Message)
	}
	if c := meta.FindStatusCondition(s.Conditions, v1alpha1.RolloutWarning); c != nil && c.Status == metav1.ConditionTrue {
		lines = append(lines, "Warning: "+c.Message)
	}
	if rows := groups.Rows(r, now); len(rows) > 0 {
		lines = append(append(lines, ""), groups.Table(rows, 0)...)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

// outcome is the exit status of a rollout that was printed.
func outcome(r *v1alpha1.Rollout) error {
	switch {
	case meta.IsStatusConditionTrue(r.Status.Conditions, v1alpha1.RolloutBreached):
		return exitBreached
	case meta.IsStatusConditionTrue(r.Status.Conditions, v1alpha1.RolloutComplete):
		return nil
	}
	return exitUnderWay
}
