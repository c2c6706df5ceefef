package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/cli/groups"
)

// statusOptions are the flags of `rollout status`.
type statusOptions struct {
	output          string
	clusters, watch bool
	timeout         time.Duration
}

func newStatusCommand(flags *genericclioptions.ConfigFlags, streams genericclioptions.IOStreams) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status BUNDLE",
		Short: "Show the groups of a bundle's rollout and what holds them back",
		Long: `Show the groups of a bundle's rollout and what holds them back.

The exit status is 0 when the rollout is complete, 1 when it is stopped by more
failures than a group tolerates, 2 while it is under way or held, and 3 when it
could not be read. With --watch the command ends when the rollout is complete or
stopped; Ctrl-C and --timeout end it with the status of that moment.`,
		Example: `  # Where does the bundle hello of namespace fleet-demo stand?
  fleetctl rollout status hello -n fleet-demo

  # Follow it to its end, 20 minutes at most
  fleetctl rollout status hello -n fleet-demo --watch --timeout 20m

  # Every cluster that has the bundle; needs to list ManifestWorks in all namespaces
  fleetctl rollout status hello -n fleet-demo --clusters

  # The same for a script
  fleetctl rollout status hello -n fleet-demo -o json`,
		Args: wants("BUNDLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			h, err := connect(flags, args[0])
			if err != nil {
				return err
			}
			if o.watch {
				return watchStatus(cmd.Context(), h, streams, o.timeout)
			}
			return showStatus(cmd.Context(), h, streams.Out, o)
		},
	}
	addOutputFlag(cmd, &o.output, "json or yaml: print the whole Rollout instead of a table")
	cmd.Flags().BoolVar(&o.clusters, "clusters", false, "list the clusters that have the bundle too; needs to list ManifestWorks in all namespaces")
	addWatchFlags(cmd, &o.watch, &o.timeout, "follow the rollout until it is complete or stopped by failures")
	return cmd
}

func addWatchFlags(cmd *cobra.Command, watch *bool, timeout *time.Duration, usage string) {
	cmd.Flags().BoolVarP(watch, "watch", "w", false, usage)
	cmd.Flags().DurationVar(timeout, "timeout", 0, "with --watch: end after this time with the status of that moment; 0 for no end")
}

func (o *statusOptions) check() error {
	if err := checkOutput(o.output); err != nil {
		return err
	}
	switch {
	case o.watch && o.output != "":
		return errors.New("--watch and --output: a watch shows a table; leave one of the two out")
	case o.watch && o.clusters:
		return errors.New("--watch and --clusters: the list of clusters shows one moment; leave one of the two out")
	}
	return checkTimeout(o.watch, o.timeout)
}

func checkTimeout(watch bool, timeout time.Duration) error {
	switch {
	case timeout < 0:
		return fmt.Errorf("--timeout %s: want a positive duration such as 20m, or 0 for no end", timeout)
	case timeout > 0 && !watch:
		return errors.New("--timeout ends a watch: add --watch")
	}
	return nil
}

// showStatus prints a rollout as it is now.
func showStatus(ctx context.Context, h *hub, out io.Writer, o statusOptions) error {
	r, err := h.rollout(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	var clusters *clusterList
	if o.clusters {
		if clusters, err = h.clusters(ctx, r, now); err != nil {
			return err
		}
	}
	if o.output != "" {
		err = printWhole(out, r, clusters, o.output)
	} else {
		err = printTable(out, r, clusters, now)
	}
	if err != nil {
		return err
	}
	return outcome(r)
}

// printTable writes a rollout's head, its groups and, if they were read, its clusters.
func printTable(out io.Writer, r *v1alpha1.Rollout, clusters *clusterList, now time.Time) error {
	lines := drawing(r, now, 0)
	if clusters != nil {
		lines = append(append(lines, ""), clusters.table(now)...)
	}
	return printLines(out, lines)
}

// drawing is a rollout's head and its groups, each line cut to width; 0 cuts nothing.
func drawing(r *v1alpha1.Rollout, now time.Time, width int) []string {
	var lines []string
	for _, line := range head(r) {
		lines = append(lines, groups.Cut(line, width))
	}
	if rows := groups.Rows(r, now); len(rows) > 0 {
		lines = append(append(lines, ""), groups.Table(rows, width)...)
	}
	if more := omitted(r); more != "" {
		lines = append(lines, groups.Cut(more, width))
	}
	return lines
}

func printLines(out io.Writer, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

// printWhole writes a Rollout as json or yaml; with clusters as {rollout, clusters}.
func printWhole(out io.Writer, r *v1alpha1.Rollout, clusters *clusterList, format string) error {
	r.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Rollout"))
	r.ManagedFields = nil
	var what any = r
	if clusters != nil {
		what = map[string]any{"rollout": r, "clusters": clusters.Clusters}
	}
	return printData(out, what, format)
}
