package deployment

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

// takeFleets makes our BundleDeployment of one of Fleet's, under the name that the hub
// would give it, so that the agent finds its release again.
func (s *Set) takeFleets(raw []byte) error {
	theirs := &fleet.BundleDeployment{}
	if err := decode(raw, theirs); err != nil {
		return err
	}
	switch {
	case theirs.Spec.OCIContents:
		return errors.New("spec.ociContents: its files are in an OCI registry, and not in a Content; turn the registry off when the file is made")
	case theirs.Spec.HelmChartOptions != nil:
		return errors.New("spec.helmChartOptions: its chart is fetched when it is deployed, as that of a HelmOp; use a bundle that carries the chart")
	}
	bundle := types.NamespacedName{
		Namespace: cmp.Or(theirs.Labels[fleet.BundleNamespaceLabel], theirs.Namespace),
		Name:      cmp.Or(theirs.Labels[fleet.BundleLabel], theirs.Name),
	}
	id := cmp.Or(theirs.Spec.DeploymentID, theirs.Spec.StagedDeploymentID)
	content, _, _ := strings.Cut(id, ":")
	ours := &v1alpha1.BundleDeployment{Spec: v1alpha1.BundleDeploymentSpec{
		Bundle:       bundle.String(),
		DeploymentID: id,
		Content:      v1alpha1.ContentSource{Name: content},
		Options:      theirs.Spec.Options,
		ValuesHash:   theirs.Spec.ValuesHash,
	}}
	ours.Name = work.Name(bundle)
	ours.Labels = work.Labels(bundle)
	ours.Annotations = map[string]string{v1alpha1.AnnotationBundle: bundle.String()}
	if ours.Spec.ValuesHash != "" {
		ours.Spec.ValuesSecret = theirs.Name
	}
	e := entry{cluster: theirs.Labels[fleet.ClusterLabel], object: ours, fleets: true}
	var err error
	if e.inline, err = inlineValues(ours); err != nil {
		return err
	}
	s.entries = append(s.entries, e)
	return nil
}

// inlineValues takes the values out of the options, as JSON; nil if there are none.
func inlineValues(bd *v1alpha1.BundleDeployment) ([]byte, error) {
	h := bd.Spec.Options.Helm
	if h == nil || h.Values == nil {
		return nil, nil
	}
	values := h.Values.Data
	h.Values = nil
	if len(values) == 0 {
		return nil, nil
	}
	data, err := json.Marshal(values)
	if err != nil {
		// The library's error can show a value.
		return nil, errors.New("spec.options.helm.values cannot be written as JSON")
	}
	return data, nil
}
