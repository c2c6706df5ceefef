package release

import (
	"errors"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"

	"open-cluster-management.io/fleet-addon/pkg/agent/fault"
	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/render"
)

// Source is what is deployed: a chart, the values for it, and what is made of the
// objects that it gives.
type Source struct {
	chart *chart.Chart
	input render.Input
	scrub func(string) string
}

// NewSource makes the chart of a bundle's files. values is the text of a values.yaml
// and may be empty. Errors are terminal and name the file.
func NewSource(want Want, files []content.File, values []byte) (*Source, error) {
	vals, err := chartutil.ReadValues(values)
	if err != nil {
		// The error of the parser would quote the values.
		return nil, fault.Terminalf("the Helm values are no YAML map")
	}
	src := &Source{
		input: render.Input{
			Bundle:    want.Bundle,
			Release:   want.Key.Name,
			Namespace: want.Key.Namespace,
			Content:   want.Content,
			Options:   want.Options,
			Files:     files,
			Values:    vals,
		},
		scrub: fault.Scrubber(vals, want.Key.Name, want.Key.Namespace, want.Owner.Name),
	}
	src.chart, err = render.Chart(src.input)
	return src, terminal(err)
}

// terminal gives the errors of rendering that no retry can cure their kind.
func terminal(err error) error {
	if errors.Is(err, render.ErrInvalid) {
		return fault.Terminalf("%w", err)
	}
	return err
}
