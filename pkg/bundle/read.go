package bundle

import (
	"context"
	"fmt"
	"maps"
	"slices"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reader answers one request.
type reader struct {
	request Request
	root    *folder
}

// Read makes bundles of directories, in the order of their names. A directory whose files
// are all left out gives none; if nothing is found at all, the list is empty and the
// caller decides what that means. Errors name the directory, the file and, in YAML, line
// and column. They are ErrOutside for paths that lead out, and ErrTooLarge for what does
// not fit.
func Read(ctx context.Context, request Request) ([]Made, error) {
	root, err := openFolder(request.Root, newBudget())
	if err != nil {
		return nil, err
	}
	defer root.close()
	r := &reader{request: request, root: root}
	places, err := r.places(ctx)
	if err != nil {
		return nil, err
	}
	byName, from := map[string]Made{}, map[string]place{}
	for _, p := range places {
		made, err := r.make(ctx, p)
		if err != nil {
			return nil, err
		}
		if made.Bundle == nil {
			continue
		}
		name := made.Bundle.Name
		if other, taken := from[name]; taken {
			return nil, fmt.Errorf("directories %q and %q both become the bundle %q; set another name in the fleet.yaml of one of them",
				other, p, name)
		}
		byName[name], from[name] = made, p
	}
	all := make([]Made, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	return all, nil
}

// make reads one place. No Bundle is made where there is no resource.
func (r *reader) make(ctx context.Context, p place) (Made, error) {
	made := Made{Dir: p.dir}
	f, err := r.root.sub(p.dir)
	if err != nil {
		return made, err
	}
	defer f.close()
	name, data, err := p.optionsOf(f)
	if err != nil {
		return made, err
	}
	shown := f.shown
	if name != "" {
		shown = f.show(name)
	}
	o, err := readOptions(shown, data, r.request.Lenient)
	if err != nil {
		return made, err
	}
	// Customizations are found in their own list, also once they are targets.
	written := len(o.Targets)
	customize(&o.BundleSpec, o.TargetCustomizations)
	fieldOf := func(i int) []any {
		if i < written {
			return []any{"targets", i}
		}
		return []any{"targetCustomizations", i - written}
	}
	skip, err := o.applyValues(f, name, fieldOf)
	if err != nil {
		return made, err
	}
	files, err := r.files(ctx, p, f, o, skip, fieldOf)
	if err != nil || len(files) == 0 {
		return made, err
	}
	b := r.bundle(p, o)
	if err := fill(b, f.shown, r.request.Namespace, files, r.request.Compress); err != nil {
		return made, err
	}
	b.TypeMeta = metav1.TypeMeta{APIVersion: fleet.SchemeGroupVersion.String(), Kind: "Bundle"}
	made.Bundle, made.Warnings = b, o.warnings
	return made, nil
}

// applyValues merges the values files into all values and returns which files are no
// resources.
func (o *options) applyValues(f *folder, name string, fieldOf func(int) []any) (map[string]bool, error) {
	skip := map[string]bool{name: name != ""}
	for _, n := range optionsFiles {
		skip[n] = true
	}
	take := func(h *fleet.HelmOptions, field ...any) error {
		if h == nil {
			return nil
		}
		names, err := o.mergeValues(f, h, field...)
		for _, n := range names {
			skip[n] = true
		}
		return err
	}
	if err := take(o.Helm); err != nil {
		return nil, err
	}
	for i := range o.Targets {
		if err := take(o.Targets[i].Helm, fieldOf(i)...); err != nil {
			return nil, err
		}
	}
	return skip, nil
}

// bundle is everything but the resources.
func (r *reader) bundle(p place, o *options) *fleet.Bundle {
	q := r.request
	b := &fleet.Bundle{
		ObjectMeta: metav1.ObjectMeta{Name: first(o.Name, p.name(q.Name)), Annotations: o.Annotations},
		Spec:       o.BundleSpec,
	}
	b.Labels = Labels(q.Labels, q.Commit, o.Labels)
	spec := &b.Spec
	spec.Targets, spec.TargetRestrictions = r.targets(o)
	spec.ForceSyncGeneration = q.ForceSyncGeneration
	spec.ServiceAccount = first(q.ServiceAccount, spec.ServiceAccount)
	spec.Paused = spec.Paused || q.Paused
	spec.KeepResources = spec.KeepResources || q.KeepResources
	spec.DeleteNamespace = spec.DeleteNamespace || q.DeleteNamespace
	if q.CorrectDrift != nil && q.CorrectDrift.Enabled {
		spec.CorrectDrift = q.CorrectDrift.DeepCopy()
	}
	if q.TargetNamespace != "" {
		spec.TargetNamespace = q.TargetNamespace
		for i := range spec.Targets {
			spec.Targets[i].TargetNamespace = q.TargetNamespace
		}
	}
	return b
}

// Labels of a bundle: its own over those that all bundles get, the commit among them; nil
// if there are none.
func Labels(all map[string]string, commit string, own map[string]string) map[string]string {
	all = maps.Clone(all)
	if all == nil {
		all = map[string]string{}
	}
	if commit != "" {
		all[fleet.CommitLabel] = commit
	}
	maps.Copy(all, own)
	if len(all) == 0 {
		return nil
	}
	return all
}
