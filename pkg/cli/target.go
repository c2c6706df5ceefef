package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/fleet-addon/pkg/cli/bundlefile"
	"open-cluster-management.io/fleet-addon/pkg/cli/targeting"
	"open-cluster-management.io/fleet-addon/pkg/document"
	"open-cluster-management.io/fleet-addon/pkg/target"
)

// targetOptions are the flags of `target`.
type targetOptions struct {
	bundleFile, namespace string
	clustersFile, cluster string
	output                string
	inputs, explain       bool
}

func newTargetCommand(streams genericclioptions.IOStreams) *cobra.Command {
	o := &targetOptions{}
	flags := genericclioptions.NewConfigFlags(true)
	// --cluster is a ManagedCluster's name, not that of a cluster in the kubeconfig.
	flags.Namespace, flags.ClusterName = nil, nil
	cmd := &cobra.Command{
		Use:   "target --bundle-file FILE",
		Short: "Print which clusters a bundle goes to, and what each of them gets",
		Long: `Print which clusters a bundle goes to, and what each of them gets.

The file holds Bundles, as "fleetctl apply -o" writes them. Printed are a Content with the
files, and for each cluster the BundleDeployment and the Secret with the Helm values that
the manager would put into its ManifestWork. When they get there is not said: that is up
to the rollout. "fleetctl deploy" deploys what is printed.

The clusters are those of the file of --clusters, with all ManagedClusters, ClusterGroups,
ManagedClusterAddOns and AddOnDeploymentConfigs in it. Without that file the hub of the
kubeconfig is read, and without any kubeconfig there is one stand-in cluster "local" in
the ClusterGroup "default".

With --explain, sentences are printed instead: which target decides about each cluster,
and why the others do not.`,
		Example: `  # What would the clusters get? No cluster is needed
  fleetctl apply -o bundle.yaml shop apps
  fleetctl target --bundle-file bundle.yaml --clusters clusters.yaml > deployments.yaml

  # Why does the bundle not go to edge-7?
  fleetctl target --bundle-file bundle.yaml --cluster edge-7 --explain`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), flags, streams) },
	}
	addHubFlags(cmd, flags)
	f := cmd.Flags()
	f.StringVarP(&o.bundleFile, "bundle-file", "b", "", "file of Bundles, or - for the standard input")
	f.StringVarP(&o.namespace, "namespace", "n", "", `namespace of the bundles (default theirs, else "`+defaultNamespace+`")`)
	f.StringVar(&o.clustersFile, "clusters", "", "file with ManagedClusters and ClusterGroups to take in place of those of a hub, or - for the standard input")
	f.StringVar(&o.cluster, "cluster", "", "look at this ManagedCluster only")
	f.BoolVarP(&o.inputs, "dump-input-list", "l", false, "print the clusters that match, with what decided, on the standard error")
	f.BoolVar(&o.inputs, "list-inputs", false, "the same as --dump-input-list")
	f.BoolVar(&o.explain, "explain", false, "say which target decides about each cluster, and why the others do not")
	addOutputFlag(cmd, &o.output, "json or yaml: print one list in this form, and not YAML documents, or sentences of --explain")
	suggest(cmd, "namespace", namespaceNames(flags))
	suggest(cmd, "cluster", clusterNames(flags))
	_ = cmd.MarkFlagRequired("bundle-file")
	return cmd
}

func (o *targetOptions) run(ctx context.Context, flags *genericclioptions.ConfigFlags, streams genericclioptions.IOStreams) error {
	if err := checkOutput(o.output); err != nil {
		return err
	}
	if o.bundleFile == "-" && o.clustersFile == "-" {
		return errors.New("--bundle-file and --clusters: only one of them can be the standard input")
	}
	bundles, err := bundlefile.Read(o.bundleFile, streams.In)
	if err != nil {
		return err
	}
	look, err := o.look(ctx, flags, streams.In)
	if err != nil {
		return err
	}
	p := &targetPrinter{out: streams.Out, errOut: streams.ErrOut, format: o.output, inputs: o.inputs}
	for i := range bundles {
		world, err := look(&bundles[i], o.namespaceOf(bundles[i].Bundle))
		if err != nil {
			return err
		}
		p.notes(world.Notes)
		p.held(bundles[i].Bundle)
		if err := o.answer(p, bundles[i].Bundle, world); err != nil {
			return err
		}
	}
	return p.end()
}

// namespaceOf is the namespace of a Bundle, which it has then.
func (o *targetOptions) namespaceOf(b *fleet.Bundle) string {
	if o.namespace != "" {
		b.Namespace = o.namespace
	}
	if b.Namespace == "" {
		b.Namespace = defaultNamespace
	}
	return b.Namespace
}

func (o *targetOptions) answer(p *targetPrinter, b *fleet.Bundle, world *targeting.World) error {
	if all := world.Names(); o.cluster != "" && !world.Only(o.cluster) {
		return fmt.Errorf("--cluster %s: bundle %s/%s cannot use such a cluster; there are: %s", o.cluster, b.Namespace, b.Name, listed(all))
	}
	if o.explain {
		explained, err := world.Explain(b)
		if err != nil {
			return err
		}
		return p.explanations(b, explained, !target.HasOwnTargets(b, world.Groups))
	}
	answer, err := world.Ask(b)
	if err != nil {
		return err
	}
	return p.answer(answer)
}

// listed names the first of many clusters.
func listed(names []string) string {
	const most = 20
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > most:
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// look is how the world of a Bundle, with its values in it then, is found.
type look func(b *bundlefile.Bundle, namespace string) (*targeting.World, error)

func (o *targetOptions) look(ctx context.Context, flags *genericclioptions.ConfigFlags, in io.Reader) (look, error) {
	switch {
	case o.clustersFile != "":
		documents, err := document.Load(o.clustersFile, in)
		if err != nil {
			return nil, err
		}
		name := o.clustersFile
		if name == "-" {
			name = document.StandardInput
		}
		return offlineLook(func(namespace string) (*targeting.World, error) {
			return targeting.FromDocuments(name, documents, namespace)
		}), nil
	case unconfigured(flags):
		return offlineLook(func(namespace string) (*targeting.World, error) { return targeting.StandIn(namespace), nil }), nil
	}
	h, err := connect(flags, "")
	if err != nil {
		return nil, fmt.Errorf("%w; to do without a hub, name a file with --clusters", err)
	}
	return func(b *bundlefile.Bundle, _ string) (*targeting.World, error) {
		if err := h.putValues(ctx, b.Bundle); err != nil {
			return nil, fmt.Errorf("%s: %w", b.At, err)
		}
		return targeting.NewHub(h.client).World(ctx, b.Bundle)
	}, nil
}

func offlineLook(from func(namespace string) (*targeting.World, error)) look {
	return func(b *bundlefile.Bundle, namespace string) (*targeting.World, error) {
		if b.Spec.ValuesHash != "" {
			return nil, fmt.Errorf("%s: spec.valuesHash: the values are in the Secret %s/%s of a hub: put that into the file too", b.At, namespace, b.Name)
		}
		return from(namespace)
	}
}
