package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/fleet-addon/pkg/cli/deployment"
	"open-cluster-management.io/fleet-addon/pkg/manifest"
	"open-cluster-management.io/fleet-addon/pkg/target"
)

// matchOptions are the flags of `test`.
type matchOptions struct {
	file, bundleFile            string
	name, group, target         string
	labels, groupLabels, claims map[string]string
	values, kubeVersion, output string
	quiet, lenient              bool
}

func newTestCommand(streams genericclioptions.IOStreams) *cobra.Command {
	var o matchOptions
	cmd := &cobra.Command{
		Use:   "test [DIR]",
		Short: "Show which target of a bundle matches a cluster that you describe, and what it would get",
		Long: `Show which target of a bundle matches a cluster that you describe, and what it would get.

The bundle is that of a directory, the working directory by default, or of a file. The
cluster is in one ClusterGroup: --group, or "default" if neither a group nor labels nor a
target are given. Nothing is asked of any cluster or hub.

The name of the target goes to the standard error, the objects go to the standard
output. The exit status is 1 when no target matches; then it says why not.`,
		Example: `  # What does a cluster with this label get?
  fleetctl test charts/web -l env=prod

  # Which target does the file have for it?
  fleetctl test -b bundle.yaml -N prod-7 -l env=prod -q

  # The options of one target, whether it matches or not
  fleetctl test charts/web -t prod`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("%s wants at most one DIR and got %d: see %[1]s --help", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args, streams) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.file, "file", "f", "", "the fleet.yaml to read, in DIR, if it has another name")
	f.StringVarP(&o.bundleFile, "bundle-file", "b", "", "read the Bundle in this file, or - for the standard input, in place of a directory")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print the target only, and no objects")
	f.StringVarP(&o.name, "name", "N", "", "the cluster's name")
	f.StringToStringVarP(&o.labels, "label", "l", nil, "the cluster's labels, as KEY=VALUE; can be repeated")
	f.StringVarP(&o.group, "group", "g", "", "name of the ClusterGroup that the cluster is in")
	f.StringToStringVarP(&o.groupLabels, "group-label", "L", nil, "labels of that ClusterGroup, as KEY=VALUE; can be repeated")
	f.StringToStringVar(&o.claims, "claims", nil, "the ClusterClaims that the cluster reports, for templates, as NAME=VALUE; can be repeated")
	f.StringVar(&o.values, "values", "", "the cluster's own values for templates (ClusterValues), a map as YAML or JSON")
	f.StringVarP(&o.target, "target", "t", "", "take the target of this name, whether it matches or not")
	f.StringVar(&o.kubeVersion, "kube-version", "", "the Kubernetes version of the cluster, for charts that ask for one (default "+deployment.KubeVersion+")")
	f.BoolVar(&o.lenient, "lenient", false, "take unknown fields of fleet.yaml as warnings")
	f.StringVarP(&o.output, "output", "o", "", "json: print the objects as a JSON list; yaml: as a YAML list; documents otherwise")
	suggest(cmd, "output", fixed(formatJSON, formatYAML))
	return cmd
}

func (o *matchOptions) check(args []string) error {
	if o.bundleFile != "" && (o.file != "" || len(args) > 0) {
		return errors.New("--bundle-file with --file or DIR: each says where the bundle is; leave one of them out")
	}
	return checkOutput(o.output)
}

func (o *matchOptions) run(ctx context.Context, args []string, streams genericclioptions.IOStreams) error {
	if err := o.check(args); err != nil {
		return err
	}
	b, err := o.bundle(ctx, args, streams)
	if err != nil {
		return err
	}
	for _, err := range target.Validate(b) {
		fmt.Fprintln(streams.ErrOut, "Warning: the hub refuses this bundle:", err)
	}
	cluster, err := o.cluster()
	if err != nil {
		return err
	}
	match, err := o.match(b, cluster, streams.ErrOut)
	if err != nil {
		return err
	}
	fmt.Fprintf(streams.ErrOut, "# Matched: %s\n", match.Target)
	if o.quiet {
		return nil
	}
	return o.print(ctx, b, match, cluster, streams.Out)
}

// cluster is the one that the flags describe.
func (o *matchOptions) cluster() (*target.Cluster, error) {
	values, err := target.ClusterValues(nil, o.values)
	if err != nil {
		return nil, fmt.Errorf("--values: %w", err)
	}
	return &target.Cluster{Name: o.name, Labels: o.labels, Claims: o.claims, Values: values}, nil
}

// match finds the target for the cluster. Where there is none it says why.
func (o *matchOptions) match(b *fleet.Bundle, cluster *target.Cluster, out io.Writer) (*target.Match, error) {
	groups := o.groups()
	if o.target != "" {
		var err error
		if b, err = onlyTarget(b, o.target); err != nil {
			return nil, err
		}
	}
	matches, err := target.Select(b, groups, []target.Cluster{*cluster})
	if err != nil {
		return nil, err
	}
	if len(matches) > 0 {
		return &matches[0], nil
	}
	why, err := target.Explain(b, groups, cluster)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "# The cluster %s\n", why.Sentence)
	for _, s := range why.Steps {
		fmt.Fprintf(out, "#   %s %s (%s): %s\n", s.Kind, s.Name, s.Field, s.Sentence)
	}
	if !target.HasOwnTargets(b, groups) {
		fmt.Fprintln(out, "# The bundle has no targets of its own: on a hub without that ClusterGroup a RolloutPolicy says which clusters get it; -t default shows what they get")
	}
	return nil, exitNo
}

// groups is the one that the cluster is in.
func (o *matchOptions) groups() []target.Group {
	name := o.group
	if name == "" && len(o.labels) == 0 && len(o.groupLabels) == 0 && o.target == "" {
		name = "default"
	}
	if name == "" && len(o.groupLabels) == 0 {
		return nil
	}
	everything := &metav1.LabelSelector{}
	return target.Groups([]fleet.ClusterGroup{{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: o.groupLabels}, Spec: fleet.ClusterGroupSpec{Selector: everything},
	}})
}

// onlyTarget is the bundle with this target alone, which matches every cluster.
func onlyTarget(b *fleet.Bundle, name string) (*fleet.Bundle, error) {
	var names []string
	for i := range b.Spec.Targets {
		t := b.Spec.Targets[i]
		if t.Name == "" {
			t.Name = fmt.Sprintf("target%03d", i)
		}
		names = append(names, t.Name)
		if t.Name != name {
			continue
		}
		t.ClusterName, t.ClusterGroup, t.ClusterGroupSelector = "", "", nil
		t.ClusterSelector, t.DoNotDeploy = &metav1.LabelSelector{}, false
		only := *b
		only.Spec.Targets, only.Spec.TargetRestrictions = []fleet.BundleTarget{t}, nil
		return &only, nil
	}
	return nil, fmt.Errorf("--target %q: the bundle %s has no such target; it has: %s", name, b.Name, strings.Join(names, ", "))
}

func (o *matchOptions) print(ctx context.Context, b *fleet.Bundle, match *target.Match, cluster *target.Cluster, out io.Writer) error {
	options, err := match.Render(cluster)
	if err != nil {
		return fmt.Errorf("target %s: %w", match.Target, err)
	}
	files, err := deployment.FilesOf(b)
	if err != nil {
		return err
	}
	d, err := deployment.Made(types.NamespacedName{Namespace: b.Namespace, Name: b.Name}, cluster.Name, files, options)
	if err != nil {
		return err
	}
	objects, err := d.Render(ctx, o.kubeVersion)
	if err != nil {
		return err
	}
	if o.output != "" {
		return printObjects(out, objects, o.output)
	}
	text, err := manifest.Render(objects)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}
