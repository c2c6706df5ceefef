package render

import (
	"errors"
	"fmt"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"helm.sh/helm/v3/pkg/chart"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

// ErrInvalid is what every error about files and options is: trying again does not
// help.
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

func (in Input) helm() fleet.HelmOptions {
	if in.Options.Helm == nil {
		return fleet.HelmOptions{}
	}
	return *in.Options.Helm
}

// Chart is the chart that Helm installs: the one of the bundle, or one that is made
// around its raw YAML; an empty one if Kustomize makes all objects. Errors are
// ErrInvalid and name the file or the option.
func Chart(in Input) (*chart.Chart, error) {
	s, err := styleOf(in)
	switch {
	case err != nil:
		return nil, err
	case s.helm:
		return helmChart(s.chart, in.Files)
	case s.kustomize:
		return emptyChart(in), nil
	}
	return rawChart(in)
}

// invalid is an error that says no more than the one it holds, and is ErrInvalid.
type invalid struct{ error }

func (e invalid) Unwrap() error        { return e.error }
func (e invalid) Is(target error) bool { return target == ErrInvalid }

func invalidf(format string, args ...any) error {
	return invalid{fmt.Errorf(format, args...)}
}
