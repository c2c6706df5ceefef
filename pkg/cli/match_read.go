package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/fleet-addon/pkg/bundle"
	"open-cluster-management.io/fleet-addon/pkg/cli/bundlefile"
	"open-cluster-management.io/fleet-addon/pkg/source"
)

// bundle reads the one bundle that the flags name.
func (o *matchOptions) bundle(ctx context.Context, args []string, streams genericclioptions.IOStreams) (*fleet.Bundle, error) {
	if o.bundleFile != "" {
		b, err := o.inFile(streams)
		if err != nil {
			return nil, err
		}
		return withTarget(b), nil
	}
	dir := "."
	if len(args) > 0 {
		dir = args[0]
	}
	made, err := o.inDirectory(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, w := range made.Warnings {
		fmt.Fprintln(streams.ErrOut, "Warning:", w)
	}
	return withTarget(made.Bundle), nil
}

func (o *matchOptions) inFile(streams genericclioptions.IOStreams) (*fleet.Bundle, error) {
	bundles, err := bundlefile.Read(o.bundleFile, streams.In)
	if err != nil {
		return nil, err
	}
	if len(bundles) != 1 {
		return nil, fmt.Errorf("%s: %d Bundles in it, and one is wanted", o.bundleFile, len(bundles))
	}
	b := bundles[0].Bundle
	if b.Spec.ValuesHash != "" {
		return nil, fmt.Errorf("%s: the values of the Bundle are in a Secret, as spec.valuesHash says: put that into the file too", bundles[0].At)
	}
	return b, nil
}

// inDirectory reads the one bundle that a directory itself becomes.
func (o *matchOptions) inDirectory(ctx context.Context, dir string) (*bundle.Made, error) {
	charts, err := source.NewCharts(source.ChartOptions{})
	if err != nil {
		return nil, err
	}
	request := bundle.Request{Name: "test", Namespace: "fleet-local", Driven: true, Lenient: o.lenient, Charts: charts}
	var at string
	request.Root, at = rootOf(dir)
	if o.file != "" {
		options := within(dir, o.file)
		if request.DrivenSeparator, err = bundle.Separator(at, options); err != nil {
			return nil, err
		}
		at += request.DrivenSeparator + options
	}
	request.Paths = []string{at}
	made, err := bundle.Read(ctx, request)
	if err != nil {
		return nil, err
	}
	if len(made) != 1 {
		return nil, fmt.Errorf("directory %s becomes no bundle: there is no file in it that a bundle carries", dir)
	}
	return &made[0], nil
}

// rootOf splits a directory into one below which everything is read and the path to it: a
// chart beside the directory may be read too, if that is in the working directory.
func rootOf(dir string) (root, path string) {
	if filepath.IsLocal(dir) {
		return ".", filepath.ToSlash(filepath.Clean(dir))
	}
	return dir, "."
}

// within is the path inside of a directory of a file that is given so, or as seen from
// the working directory, which is how Fleet takes it.
func within(dir, file string) string {
	if _, err := os.Stat(file); err == nil {
		if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(file)
}

// withTarget gives a bundle without targets the one that stands for all clusters of the
// ClusterGroup default.
func withTarget(b *fleet.Bundle) *fleet.Bundle {
	if len(b.Spec.Targets) > 0 {
		return b
	}
	out := *b
	out.Spec.Targets = []fleet.BundleTarget{{Name: "default", ClusterGroup: "default"}}
	return &out
}
