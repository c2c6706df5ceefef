package render

import (
	"path"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

// kustomizations are the names that Kustomize knows.
var kustomizations = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

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
