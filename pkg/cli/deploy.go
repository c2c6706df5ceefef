package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/fleet-addon/pkg/agent/release"
	"open-cluster-management.io/fleet-addon/pkg/cli/deployment"
	"open-cluster-management.io/fleet-addon/pkg/cli/install"
	"open-cluster-management.io/fleet-addon/pkg/document"
)

// deployOptions are the flags of `deploy`.
type deployOptions struct {
	input, cluster, name      string
	namespace, agentNamespace string
	kubeVersion, output       string
	dryRun, wait              bool
	timeout                   time.Duration
}

func newDeployCommand(streams genericclioptions.IOStreams) *cobra.Command {
	var o deployOptions
	flags := genericclioptions.NewConfigFlags(true)
	// -n is where the release goes, and --cluster a ManagedCluster's name, not that of a
	// cluster in the kubeconfig.
	flags.Namespace, flags.ClusterName = nil, nil
	cmd := &cobra.Command{
		Use:   "deploy -i FILE",
		Short: "Deploy on one cluster what a file from `fleetctl target` says, without a hub",
		Long: `Deploy on one cluster what a file from "fleetctl target" says, without a hub.

The file holds a Content, one or more BundleDeployments and the Secrets with their Helm
values, or the Content and BundleDeployment that Fleet's own "fleet target" prints. All
hashes are checked.

With --dry-run nothing is asked of a cluster: all objects are printed as one YAML list,
those of hooks too, and Secrets as they are. Otherwise the Helm release is installed or
upgraded as the agent does it, on a cluster that needs neither the add-on nor its CRDs.
Bundles that it depends on are not waited for.

No agent removes the release, unless --agent-namespace says that it is the agent's. When
the add-on brings the bundle to the cluster later, its agent takes the release over.`,
		Example: `  # What would be deployed?
  fleetctl target -b bundle.yaml > deployment.yaml
  fleetctl deploy -i deployment.yaml --dry-run

  # Deploy it on the cluster of the present context, and wait until it is ready
  fleetctl deploy -i deployment.yaml --wait

  # A file for many clusters
  fleetctl deploy -i deployment.yaml --cluster edge-7 --kubeconfig edge-7.kubeconfig`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), flags, streams)
		},
	}
	addHubFlags(cmd, flags)
	f := cmd.Flags()
	f.StringVarP(&o.input, "input-file", "i", "", "the file with Content and BundleDeployment, or - for the standard input")
	f.BoolVarP(&o.dryRun, "dry-run", "d", false, "print the objects, and deploy nothing")
	f.StringVarP(&o.namespace, "namespace", "n", "", "namespace of the release, if the bundle names none (default \"default\")")
	f.StringVar(&o.kubeVersion, "kube-version", "", "with --dry-run: the Kubernetes version of the cluster, for charts that ask for one (default "+deployment.KubeVersion+")")
	f.StringVarP(&o.agentNamespace, "agent-namespace", "a", "", "label the release as that of the agent in this namespace, which removes it if there is no BundleDeployment for it")
	f.StringVar(&o.cluster, "cluster", "", "deploy what is for this ManagedCluster, of a file for many")
	f.StringVar(&o.name, "name", "", "deploy the bundle or BundleDeployment of this name, of a file with many")
	f.BoolVar(&o.wait, "wait", false, "wait until all objects are ready")
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "with --wait: how long at most")
	addOutputFlag(cmd, &o.output, "json or yaml: print the release, or with --dry-run the objects, in this form")
	_ = cmd.MarkFlagRequired("input-file")
	return cmd
}

func (o *deployOptions) check() error {
	switch {
	case o.wait && o.dryRun:
		return errors.New("--wait and --dry-run: nothing is deployed that could be waited for; leave one of the two out")
	case o.kubeVersion != "" && !o.dryRun:
		return errors.New("--kube-version goes with --dry-run: a cluster has a version of its own")
	case o.timeout <= 0:
		return fmt.Errorf("--timeout %s: want a positive duration such as 5m", o.timeout)
	}
	return checkOutput(o.output)
}

func (o *deployOptions) run(ctx context.Context, flags *genericclioptions.ConfigFlags, streams genericclioptions.IOStreams) error {
	if err := o.check(); err != nil {
		return err
	}
	d, err := o.read(streams.In)
	if err != nil {
		return err
	}
	if o.dryRun {
		objects, err := d.Render(ctx, o.kubeVersion)
		if err != nil {
			return err
		}
		return printObjects(streams.Out, objects, o.output)
	}
	config, err := configOf(flags, "cluster")
	if err != nil {
		return err
	}
	installer, err := install.New(config, streams.ErrOut)
	if err != nil {
		return err
	}
	return o.install(ctx, installer, d, streams)
}

// read chooses what is deployed, and puts the flags into it.
func (o *deployOptions) read(in io.Reader) (*deployment.Deployment, error) {
	source, data, err := document.Bytes(o.input, in)
	if err != nil {
		return nil, err
	}
	set, err := deployment.Read(source, data)
	if err != nil {
		return nil, err
	}
	d, err := set.Choose(o.cluster, o.name)
	if err != nil {
		return nil, err
	}
	if d.Object.Spec.Options.DefaultNamespace == "" {
		d.Object.Spec.Options.DefaultNamespace = o.namespace
	}
	d.Object.Namespace = install.Owner
	if o.agentNamespace != "" {
		d.Object.Namespace = o.agentNamespace
	}
	return d, nil
}

func (o *deployOptions) install(ctx context.Context, installer *install.Installer, d *deployment.Deployment, streams genericclioptions.IOStreams) error {
	owner := types.NamespacedName{Namespace: d.Object.Namespace, Name: d.Object.Name}
	installer.Warn(ctx, owner)
	fmt.Fprintf(streams.ErrOut, "Bundle %s becomes release %s.\n", d.Object.Spec.Bundle, d.Key())
	done, err := installer.Install(ctx, d)
	if err != nil {
		return err
	}
	if err := printDeployed(streams.Out, done, o.output); err != nil || !o.wait {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	return installer.Wait(ctx, owner.Name, done)
}

// printObjects prints objects as one list: YAML as Fleet prints it, or JSON.
func printObjects(out io.Writer, objects []*unstructured.Unstructured, format string) error {
	if format == "" {
		format = formatYAML
	}
	contents := make([]map[string]any, len(objects))
	for i, o := range objects {
		contents[i] = o.Object
	}
	return printData(out, contents, format)
}

// deployedData is a release for scripts.
type deployedData struct {
	Namespace    string           `json:"namespace"`
	Name         string           `json:"name"`
	Revision     int              `json:"revision"`
	DeploymentID string           `json:"deploymentID"`
	Objects      []deployedObject `json:"objects"`
}

type deployedObject struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

func printDeployed(out io.Writer, d release.Deployed, format string) error {
	if format == "" {
		lines := []string{fmt.Sprintf("release %s:%d", d.Key, d.Revision)}
		for _, object := range d.Objects {
			lines = append(lines, "  "+object.String())
		}
		return printLines(out, lines)
	}
	data := deployedData{
		Namespace: d.Key.Namespace, Name: d.Key.Name, Revision: d.Revision, DeploymentID: d.DeploymentID, Objects: []deployedObject{},
	}
	for _, object := range d.Objects {
		version, kind := object.ToAPIVersionAndKind()
		data.Objects = append(data.Objects, deployedObject{APIVersion: version, Kind: kind, Namespace: object.Namespace, Name: object.Name})
	}
	return printData(out, data, format)
}
