package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/fleet-addon/pkg/cli/diff"
)

// diffOptions are the flags of `diff`.
type diffOptions struct {
	bundleFile, toRevision, output string
}

func newDiffCommand(streams genericclioptions.IOStreams) *cobra.Command {
	var o diffOptions
	flags := genericclioptions.NewConfigFlags(true)
	cmd := &cobra.Command{
		Use:   "diff BUNDLE [CLUSTER]",
		Short: "Show what a new revision of a bundle changes on clusters, before it is there",
		Long: `Show what a new revision of a bundle changes on clusters, before it is there.

What the cluster's ManifestWork carries is rendered, and what the Bundle says now for
this cluster, or a kept revision, or a file; then they are compared object by object.
Without CLUSTER it is done for all clusters that have the bundle, and clusters on which
the same changes are shown as one. No cluster is asked: what somebody has changed there,
or a chart looks up there, is not seen.

Data of Secrets is hidden; that a key changes is shown. Values that a chart writes into
other objects are shown as they stand there.

The exit status is 0 when nothing changes, 1 when something does, and 3 when that could
not be told for every cluster.`,
		Example: `  # What does the new revision change, and where?
  fleetctl diff hello -n fleet-demo

  # What would this file change on the cluster prod-7, if it was applied?
  fleetctl apply -n fleet-demo -o bundle.yaml hello .
  fleetctl diff hello prod-7 -n fleet-demo --bundle-file bundle.yaml

  # What would going back to revision 3 change?
  fleetctl diff hello -n fleet-demo --to-revision 3`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return fmt.Errorf("%s wants BUNDLE and, if it is about one, CLUSTER, and got %d: see %[1]s --help", cmd.CommandPath(), len(args))
			}
			return nil
		},
		ValidArgsFunction: arguments(bundleNames(flags), clusterNames(flags)),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := o.open(flags, args[0])
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), h, args[1:], streams)
		},
	}
	addHubFlags(cmd, flags)
	f := cmd.Flags()
	f.StringVarP(&o.bundleFile, "bundle-file", "b", "", "compare with the Bundle in this file, or - for the standard input, in place of the one on the hub")
	f.StringVar(&o.toRevision, "to-revision", "", "compare with this kept revision, by number or hash as fleetctl rollout history lists them")
	suggest(cmd, "to-revision", revisionNames(flags))
	addOutputFlag(cmd, &o.output, "json or yaml: print data instead of text")
	return cmd
}

func (o *diffOptions) open(flags *genericclioptions.ConfigFlags, bundle string) (*hub, error) {
	if o.bundleFile != "" && o.toRevision != "" {
		return nil, errors.New("--bundle-file and --to-revision: each says what to compare with; leave one of the two out")
	}
	if err := checkOutput(o.output); err != nil {
		return nil, err
	}
	return connect(flags, bundle)
}

func (o *diffOptions) run(ctx context.Context, h *hub, cluster []string, streams genericclioptions.IOStreams) error {
	next, err := h.candidate(ctx, o, streams.In)
	if err != nil {
		return err
	}
	comparison := newComparison(h, next)
	if err := comparison.all(ctx, cluster); err != nil {
		return err
	}
	result := diffData{Bundle: h.bundle.String(), To: next.title}
	if result.Groups, err = diff.Groups(comparison.clusters); err != nil {
		return err
	}
	if o.output != "" {
		err = printData(streams.Out, result, o.output)
	} else {
		err = printLines(streams.Out, result.lines())
	}
	if err != nil {
		return err
	}
	return result.outcome()
}
