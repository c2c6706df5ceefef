package render

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

const (
	// maxKustomizations counts one that is needed twice twice.
	maxKustomizations = 1000
	// maxKustomized is the largest sum of files that Kustomize reads, in bytes; one that it
	// reads twice counts twice.
	maxKustomized = 16 << 20
	// maxObjects of resources; Kustomize looks for the name of each one in all others, which
	// takes a few seconds for 2,000.
	maxObjects = 3000
)

// reach collects the files that a kustomization needs. What is not a file of the bundle
// is refused here, since Kustomize would fetch it from the network.
type reach struct {
	files   map[string][]byte
	reached map[string][]byte
	// path are the directories of the kustomizations that led here.
	path []string
	// count of kustomizations, of objects in resources, and of bytes.
	count, objects, size int
}

// reachable returns the files that the kustomization in a directory needs.
func reachable(files map[string][]byte, dir string) (map[string][]byte, error) {
	r := &reach{files: files, reached: map[string][]byte{}}
	if err := r.kustomization(dir); err != nil {
		return nil, err
	}
	return r.reached, nil
}

func (r *reach) kustomization(dir string) error {
	if slices.Contains(r.path, dir) {
		return fmt.Errorf("%s needs itself", dir)
	}
	if r.count++; r.count > maxKustomizations {
		return fmt.Errorf("more than %d kustomizations need each other", maxKustomizations)
	}
	file, err := r.only(dir)
	if err != nil {
		return err
	}
	var k types.Kustomization
	if err := k.Unmarshal(r.files[file]); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	k.FixKustomization()
	r.path = append(r.path, dir)
	defer func() { r.path = r.path[:len(r.path)-1] }()
	for _, needs := range []func(string, *types.Kustomization) error{r.bases, r.loaded, r.generated, r.plugins} {
		if err := needs(dir, &k); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

func (r *reach) has(name string) bool {
	_, ok := r.files[name]
	return ok
}

// only is the kustomization of a directory.
func (r *reach) only(dir string) (string, error) {
	var found []string
	for _, name := range kustomizations {
		if file := path.Join(dir, name); r.has(file) {
			found = append(found, file)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%s has no kustomization.yaml", dir)
	case 1:
		return found[0], r.read(found[0])
	}
	return "", fmt.Errorf("both %s and %s are there; remove one", found[0], found[1])
}

// bases are what a kustomization begins with: files and directories.
func (r *reach) bases(dir string, k *types.Kustomization) error {
	for _, ref := range k.Resources {
		if isRemote(ref) {
			return remote("resources", ref)
		}
		file := path.Join(dir, ref)
		if r.has(file) {
			if err := r.resource(dir, ref); err != nil {
				return err
			}
			continue
		}
		if err := r.directory("resources", file); err != nil {
			return err
		}
	}
	for _, ref := range k.Components {
		if isRemote(ref) {
			return remote("components", ref)
		}
		if err := r.directory("components", path.Join(dir, ref)); err != nil {
			return err
		}
	}
	return nil
}

func (r *reach) resource(dir, ref string) error {
	if err := r.file("resources", dir, ref); err != nil {
		return err
	}
	// What is wrong with a file Kustomize says.
	objects, _ := manifest.Documents(r.files[path.Join(dir, ref)])
	if r.objects += len(objects); r.objects > maxObjects {
		return fmt.Errorf("the resources have more than %d objects, counting them as often as they are needed", maxObjects)
	}
	return nil
}

func (r *reach) directory(field, dir string) error {
	for name := range r.files {
		if strings.HasPrefix(name, dir+"/") || dir == "." {
			return r.kustomization(dir)
		}
	}
	return fmt.Errorf("%s: the bundle has no file and no directory %s", field, dir)
}

// loaded are files beside the resources.
func (r *reach) loaded(dir string, k *types.Kustomization) error {
	refs := map[string][]string{"crds": k.Crds, "configurations": k.Configurations}
	if ref, ok := k.OpenAPI["path"]; ok {
		refs["openapi.path"] = []string{ref}
	}
	for _, p := range append(slices.Clone(k.Patches), k.PatchesJson6902...) { //nolint:staticcheck // people have it
		refs["patches.path"] = append(refs["patches.path"], p.Path)
	}
	for _, p := range k.Replacements {
		refs["replacements.path"] = append(refs["replacements.path"], p.Path)
	}
	for _, p := range k.PatchesStrategicMerge { //nolint:staticcheck // people have it
		// It may be the patch itself.
		if ref := string(p); isRemote(ref) || r.has(path.Join(dir, ref)) {
			refs["patchesStrategicMerge"] = append(refs["patchesStrategicMerge"], ref)
		}
	}
	return r.all(dir, refs)
}

// generated are files that become ConfigMaps and Secrets.
func (r *reach) generated(dir string, k *types.Kustomization) error {
	var sources []types.KvPairSources
	for _, g := range k.ConfigMapGenerator {
		sources = append(sources, g.KvPairSources)
	}
	for _, g := range k.SecretGenerator {
		sources = append(sources, g.KvPairSources)
	}
	refs := map[string][]string{}
	for _, s := range sources {
		refs["envs"] = append(refs["envs"], s.EnvSources...)
		for _, ref := range s.FileSources {
			if _, file, ok := strings.Cut(ref, "="); ok {
				ref = file
			}
			refs["files"] = append(refs["files"], ref)
		}
	}
	return r.all(dir, refs)
}

func (r *reach) all(dir string, refs map[string][]string) error {
	for field, refs := range refs {
		for _, ref := range refs {
			if ref == "" {
				continue
			}
			if err := r.file(field, dir, ref); err != nil {
				return err
			}
		}
	}
	return nil
}

// file reads a file that a field names.
func (r *reach) file(field, dir, ref string) error {
	if isRemote(ref) {
		return remote(field, ref)
	}
	name := path.Join(dir, ref)
	if !r.has(name) {
		return fmt.Errorf("%s: the bundle has no file %s", field, name)
	}
	if dir != "." && !strings.HasPrefix(name, dir+"/") {
		return fmt.Errorf("%s: the file %s is not below the directory of the kustomization, and only other kustomizations may be elsewhere", field, name)
	}
	return r.read(name)
}

func (r *reach) read(name string) error {
	if r.size += len(r.files[name]); r.size > maxKustomized {
		return errors.New("kustomize would read more than 16 MiB, counting files and rendered templates as often as they are needed")
	}
	r.reached[name] = r.files[name]
	return nil
}
