package render

import (
	"context"
	"errors"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

// ErrInvalid is wrapped by every error about files and options: trying again does not
// help. No error quotes values.
var ErrInvalid = errors.New("the bundle cannot be rendered")

// Input is one bundle on one cluster.
type Input struct {
	// Bundle is "namespace/name".
	Bundle string
	// Release and Namespace of the Helm release.
	Release, Namespace string
	// Content is the name of the files' Content.
	Content string
	// Options are the merged and rendered ones; their values are in Values.
	Options fleet.BundleDeploymentOptions
	Files   []content.File
	Values  map[string]any
}

// Chart is the chart that Helm installs.
func Chart(Input) (*chart.Chart, error) { return nil, errNotBuilt }

// Kustomize is run over what Helm's templates gave, as YAML documents; without a
// kustomization it returns that as it is.
func Kustomize(Input, []byte) ([]byte, error) { return nil, errNotBuilt }

// Manifests renders everything without a cluster, hooks and CRDs included, in the order
// in which Helm would apply it. kubeVersion is that of the cluster, such as "1.34";
// "" takes that of the Helm library.
func Manifests(context.Context, Input, string) ([]*unstructured.Unstructured, error) {
	return nil, errNotBuilt
}

var errNotBuilt = errors.New("nothing can be rendered yet")
