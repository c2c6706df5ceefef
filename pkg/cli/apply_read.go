package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/fleet-addon/pkg/bundle"
	"open-cluster-management.io/fleet-addon/pkg/cli/bundlefile"
	"open-cluster-management.io/fleet-addon/pkg/document"
	"open-cluster-management.io/fleet-addon/pkg/source"
)

// toApply is what there is to write.
type toApply struct {
	bundles  []*fleet.Bundle
	warnings []string
	// from names where the bundles come from, for people.
	from string
	// owner is the name that the bundles begin with. prunes is true if bundles of its label
	// that are not among these are to be deleted.
	owner  string
	prunes bool
}

// notPruned says of a failed apply what it did not do.
func (t *toApply) notPruned() error {
	if !t.prunes {
		return nil
	}
	return errors.New("nothing was deleted, because not all bundles could be written")
}

// read makes the bundles of directories, or reads those of a file.
func (o *applyOptions) read(ctx context.Context, streams genericclioptions.IOStreams, args []string) (*toApply, error) {
	bundles, err := o.bundlesOf(streams.In, args)
	if err != nil {
		return nil, err
	}
	if bundles != nil {
		return o.fromFile(bundles, args)
	}
	if len(args) == 0 {
		return nil, errors.New("fleetctl apply wants NAME, which the names of the bundles begin with: see fleetctl apply --help")
	}
	return o.fromDirectories(ctx, args[0], args[1:])
}

// optionsFile is the file of --file or --bundle-file.
func (o *applyOptions) optionsFile() string { return o.file + o.bundleFile }

// bundlesOf reads the file of --file or --bundle-file if it has Bundles, and returns nil
// if it is an options file. Fleet's own CLI describes the two flags the other way round
// than they work, so the file itself decides.
func (o *applyOptions) bundlesOf(in io.Reader, args []string) ([]bundlefile.Bundle, error) {
	file := o.optionsFile()
	if file == "" {
		return nil, nil
	}
	if file == "-" || o.bundleFile != "" && len(args) < 2 {
		// There is no PATH that an options file could be in.
		return bundlefile.Read(file, in)
	}
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	documents, err := document.Load(file, nil)
	if !slices.ContainsFunc(documents, bundlefile.Is) {
		// Whatever is wrong with options is said with the PATH that they are in.
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return bundlefile.Of(file, documents)
}

// fromFile takes the bundles of a file, with what flags say of labels and namespace.
func (o *applyOptions) fromFile(bundles []bundlefile.Bundle, args []string) (*toApply, error) {
	if len(o.ofDirectories) > 0 {
		return nil, fmt.Errorf("--%s is for bundles of directories: in a file of Bundles, write it there", o.ofDirectories[0])
	}
	if len(args) > 1 {
		return nil, fmt.Errorf("%q: with the Bundles of a file no directory is read; give at most NAME", args[1])
	}
	out := &toApply{from: o.optionsFile()}
	if len(args) == 1 {
		out.owner = args[0]
	}
	for _, b := range bundles {
		if b.Name == "" {
			if len(bundles) > 1 || out.owner == "" {
				return nil, fmt.Errorf("%s: metadata.name: is missing; give it there, or NAME on the command line for one Bundle", b.At)
			}
			b.Name = bundle.ReleaseName(out.owner)
		}
		if b.Namespace == "" || !o.namespaceIsDefault {
			b.Namespace = o.namespace
		}
		// What a Bundle from a hub says of its past is not what people wrote.
		b.ResourceVersion, b.UID, b.Generation, b.ManagedFields, b.OwnerReferences, b.Finalizers = "", "", 0, nil, nil, nil
		b.Labels = bundle.Labels(o.label, o.commit, b.Labels)
		out.bundles = append(out.bundles, b.Bundle)
	}
	return out, nil
}

// fromDirectories makes bundles of directories.
func (o *applyOptions) fromDirectories(ctx context.Context, name string, paths []string) (*toApply, error) {
	request, warnings, err := o.request(name, paths)
	if err != nil {
		return nil, err
	}
	made, err := bundle.Read(ctx, request)
	if err != nil {
		return nil, err
	}
	out := &toApply{warnings: warnings, from: "the paths " + strings.Join(paths, ", "), owner: name, prunes: true}
	if len(paths) == 0 {
		out.from = "the working directory"
	}
	for _, m := range made {
		out.bundles = append(out.bundles, m.Bundle)
		out.warnings = append(out.warnings, m.Warnings...)
	}
	return out, nil
}

// request says what to read.
func (o *applyOptions) request(name string, paths []string) (bundle.Request, []string, error) {
	r := bundle.Request{
		Root: ".", Name: name, Namespace: o.namespace, Paths: paths,
		Driven: o.drivenScan, DrivenSeparator: o.drivenScanSep,
		Labels: o.label, Commit: o.commit,
		ServiceAccount: o.serviceAccount, TargetNamespace: o.targetNamespace,
		Paused: o.paused, KeepResources: o.keepResources, DeleteNamespace: o.deleteNamespace,
		CorrectDrift: &o.correctDrift, ForceSyncGeneration: o.syncGeneration,
		Compress: o.compress, Lenient: o.lenient,
	}
	if r.Commit == "" {
		r.Commit = source.Head(".")
	}
	options, err := o.charts.options()
	if err != nil {
		return r, nil, err
	}
	if r.Charts, err = source.NewCharts(options); err != nil {
		return r, nil, err
	}
	if file := o.optionsFile(); file != "" {
		if r.Paths, r.DrivenSeparator, err = withOptions(paths, file, o.drivenScan); err != nil {
			return r, nil, err
		}
		r.Driven = true
	}
	data, err := fileOf("targets-file", o.targetsFile)
	if err != nil || data == nil {
		return r, nil, err
	}
	targets, warnings, err := bundle.ReadTargets(o.targetsFile, data, o.lenient)
	r.Targets, r.Restrictions = targets.Targets, targets.TargetRestrictions
	return r, warnings, err
}

// withOptions makes each path one bundle with the same options file in it.
func withOptions(paths []string, file string, driven bool) ([]string, string, error) {
	if driven {
		return nil, "", errors.New("--file goes not with --driven-scan: write the options file behind each PATH, as in apps/web:dev.yaml")
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	separator, err := bundle.Separator(append([]string{file}, paths...)...)
	if err != nil {
		return nil, "", err
	}
	var out []string
	for _, p := range paths {
		for _, dir := range directories(p) {
			out = append(out, dir+separator+file)
		}
	}
	return out, separator, nil
}

// directories are those that a glob names, or the path itself if it names none.
func directories(path string) []string {
	var out []string
	// A broken glob is an error where the path is read.
	found, _ := filepath.Glob(strings.TrimLeft(path, "/"))
	for _, name := range found {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return []string{path}
	}
	return out
}

// writeBundles writes bundles into a file or to the standard output. A file appears only
// when it is whole; it can have secrets in it.
func writeBundles(output string, streams genericclioptions.IOStreams, bundles []*fleet.Bundle) error {
	var data bytes.Buffer
	if err := bundlefile.Write(&data, bundles...); err != nil {
		return err
	}
	if output == "-" {
		_, err := streams.Out.Write(data.Bytes())
		return err
	}
	if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	if err := replaceFile(output, data.Bytes()); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	for _, b := range bundles {
		fmt.Fprintf(streams.ErrOut, "Bundle %s/%s written to %s\n", b.Namespace, b.Name, output)
	}
	return nil
}

// replaceFile writes a file beside the one that it then becomes. What is no regular file,
// such as /dev/stdout, is written as it is.
func replaceFile(name string, data []byte) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(name, data, 0o600)
	}
	temp, err := os.CreateTemp(filepath.Dir(name), ".fleetctl-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
