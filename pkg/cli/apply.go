package cli

import (
	"context"
	"errors"
	"fmt"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/fleet-addon/pkg/cli/publish"
)

// defaultNamespace of bundles is Fleet's, so that scripts written for it find theirs.
const defaultNamespace = "fleet-local"

// applyOptions are the flags of `apply`.
type applyOptions struct {
	namespace          string
	file, bundleFile   string
	output             string
	label              map[string]string
	targetsFile        string
	serviceAccount     string
	targetNamespace    string
	commit             string
	syncGeneration     int64
	compress, paused   bool
	keepResources      bool
	deleteNamespace    bool
	correctDrift       fleet.CorrectDrift
	drivenScan         bool
	drivenScanSep      string
	concurrency        int
	lenient, empty     bool
	ociRegistrySecret  string
	imagescan          bool
	debug              bool
	debugLevel         int
	charts             chartFlags
	namespaceIsDefault bool
	// ofDirectories are the flags that were given and say how directories are read.
	ofDirectories []string
}

func newApplyCommand(streams genericclioptions.IOStreams) *cobra.Command {
	o := &applyOptions{}
	flags := genericclioptions.NewConfigFlags(true)
	flags.Namespace = nil
	cmd := &cobra.Command{
		Use:   "apply NAME [PATH...]",
		Short: "Make bundles of directories, and write them to the hub or into a file",
		Long: `Make bundles of directories, and write them to the hub or into a file.

Each PATH is a directory, or a glob of directories, below the working directory; without
one it is the working directory itself. Each becomes a bundle, and so does each directory
below it with a fleet.yaml. The names of the bundles are NAME and the path.

With --output nothing is asked of a hub: the bundles, with their Helm values, are written
into a file or, for -, to the standard output. Without it they are written to the hub; the
values go into a Secret beside each Bundle. What is as it should be is not written again.
When all bundles are written, those in the namespace that have the label
fleet.cattle.io/repo-name=NAME and are none of them are deleted.

With --file or --bundle-file, and a file of Bundles, these are written instead, and none
is deleted. NAME then names a Bundle without a name.

Lines for every bundle and warnings go to the standard error. The environment variables
NAMESPACE, COMMIT, HELM_USERNAME and FLEET_BUNDLE_CREATION_MAX_CONCURRENCY are what the
flags are where these are not given; FLEET_APPLY_CONFLICT_RETRIES is how often a bundle is
tried while somebody else changes it too (default 5), FLEET_KNOWN_HOSTS the known hosts
for git over SSH.`,
		Example: `  # The bundle of a directory, without any cluster
  fleetctl apply -n fleet-local -o bundle.yaml testbundle simple-chart/

  # Write the bundles of all directories below apps to the hub
  fleetctl apply -n team-a shop 'apps/*'

  # Own what is written by a name, so that directories that are gone take theirs away
  fleetctl apply -n team-a --label fleet.cattle.io/repo-name=shop shop apps

  # One directory with two files of options, as two bundles
  fleetctl apply -n team-a --driven-scan shop apps/web:dev.yaml apps/web:prod.yaml

  # Write a file of bundles to the hub
  fleetctl apply -n team-a --bundle-file bundle.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd.Flags()); err != nil {
				return err
			}
			return o.run(cmd.Context(), flags, streams, args)
		},
	}
	addHubFlags(cmd, flags)
	o.addFlags(cmd)
	suggest(cmd, "namespace", namespaceNames(flags))
	return cmd
}

func (o *applyOptions) run(ctx context.Context, flags *genericclioptions.ConfigFlags, streams genericclioptions.IOStreams, args []string) error {
	if err := o.verbose(); err != nil {
		return err
	}
	read, err := o.read(ctx, streams, args)
	if err != nil {
		return err
	}
	for _, warning := range append(o.warnings(), read.warnings...) {
		fmt.Fprintln(streams.ErrOut, "Warning:", warning)
	}
	if len(read.bundles) == 0 && !o.empty {
		return fmt.Errorf("no bundle in %s: nothing was written or deleted; if that is meant, add --allow-empty", read.from)
	}
	if o.output != "" {
		return writeBundles(o.output, streams, read.bundles)
	}
	h, err := connect(flags, "")
	if err != nil {
		return err
	}
	tries, err := triesFromEnv()
	if err != nil {
		return err
	}
	p := &publish.Publisher{Client: h.client, Progress: streams.ErrOut, Owner: read.owner, Tries: tries, Parallel: o.concurrency}
	if err := p.Publish(ctx, read.bundles); err != nil {
		return errors.Join(err, read.notPruned())
	}
	if !read.prunes {
		return nil
	}
	return p.Prune(ctx, o.namespace, read.bundles)
}
