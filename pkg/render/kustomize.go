package render

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

// manifestsFile is the name under which a kustomization finds what Helm's templates gave,
// as it does with Fleet.
const manifestsFile = "fleet-manifests.yaml"

// kustomizations are the names that Kustomize knows.
var kustomizations = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// running keeps Kustomize to one at a time: its OpenAPI schema is one for the process,
// and it needs many times the memory that its files have.
var running sync.Mutex

func kustomizeDir(o fleet.BundleDeploymentOptions) string {
	if o.Kustomize == nil {
		return "."
	}
	return path.Clean(o.Kustomize.Dir)
}

// kustomizationIn is the name of the kustomization in a directory, "" if there is none.
func kustomizationIn(dir string, files []content.File) string {
	for _, name := range kustomizations {
		if file := path.Join(dir, name); has(files, file) {
			return file
		}
	}
	return ""
}

// kustomize gives the objects of Helm's templates to the bundle's kustomization, as its
// first resource, and returns what that makes of them. It reads files of the bundle only.
func kustomize(in Input, objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	dir := kustomizeDir(in.Options)
	files := make(map[string][]byte, len(in.Files)+1)
	for _, f := range in.Files {
		files[path.Clean(f.Name)] = f.Data
	}
	if len(objects) > 0 {
		if err := inject(files, dir, kustomizationIn(dir, in.Files), objects); err != nil {
			return nil, err
		}
	}
	reached, err := reachable(files, dir)
	if err != nil {
		return nil, err
	}
	disk := filesys.MakeFsInMemory()
	for name, data := range reached {
		if err := disk.WriteFile("/"+name, data); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	out, err := build(disk, path.Join("/", dir))
	if err != nil {
		return nil, err
	}
	if len(out) > MaxOutput {
		return nil, fmt.Errorf("it gives %d bytes, at most %d are taken", len(out), MaxOutput)
	}
	return manifest.Documents(out)
}

// inject adds the objects to the files, and to the resources of the kustomization.
func inject(files map[string][]byte, dir, kustomization string, objects []*unstructured.Unstructured) error {
	rendered, err := manifest.Render(objects)
	if err != nil {
		return err
	}
	files[path.Join(dir, manifestsFile)] = rendered
	var fields map[string]any
	if err := yaml.Unmarshal(files[kustomization], &fields); err != nil {
		return fmt.Errorf("%s: %w", kustomization, err)
	}
	if fields == nil {
		fields = map[string]any{}
	}
	resources, _ := fields["resources"].([]any)
	for _, r := range resources {
		if r == manifestsFile {
			return nil
		}
	}
	fields["resources"] = append([]any{manifestsFile}, resources...)
	files[kustomization], err = yaml.Marshal(fields)
	return err
}

// build runs Kustomize, without plugins, Helm and functions.
func build(disk filesys.FileSystem, dir string) (out []byte, err error) {
	running.Lock()
	defer running.Unlock()
	defer func() {
		// One bundle's kustomization is not to end the agent of all.
		if r := recover(); r != nil {
			out, err = nil, errors.New("kustomize fails on it with a panic")
		}
	}()
	result, err := krusty.MakeKustomizer(&krusty.Options{
		Reorder:          krusty.ReorderOptionNone,
		LoadRestrictions: types.LoadRestrictionsRootOnly,
		PluginConfig:     types.DisabledPluginConfig(),
	}).Run(disk, dir)
	if err != nil {
		return nil, errors.New(withoutQuotation(err.Error()))
	}
	return result.AsYaml()
}

// quotations begin where messages of Kustomize quote files.
var quotations = []string{"node contents:", "length contents:", "invalid utf8 bytes", "literal source"}

// withoutQuotation cuts off what a message of Kustomize quotes, which may be secret.
func withoutQuotation(message string) string {
	for _, mark := range quotations {
		if before, _, found := strings.Cut(message, mark); found {
			message = before + mark + " ***"
		}
	}
	return message
}
