package target

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

// made is what a set of rules makes of a bundle's options, shared by the clusters that
// they decide about.
type made struct {
	namespace string
	options   fleet.BundleDeploymentOptions
	values    *values
	uses      Uses

	mu sync.Mutex
	// known are the values that several clusters can share, by what of them counts.
	known map[uint64]filled
}

// filled are the values of a cluster, or why there are none.
type filled struct {
	data map[string]any
	err  error
}

// maxKnown bounds the values that are kept.
const maxKnown = 64

func newMade(namespace string, o fleet.BundleDeploymentOptions) *made {
	m := &made{namespace: namespace, options: o, values: compileValues(&o)}
	m.uses = m.values.uses()
	return m
}

// render fills the values in, once for all clusters that are the same to them.
func (m *made) render(c *Cluster) (fleet.BundleDeploymentOptions, error) {
	if m.values == nil {
		return m.options, nil
	}
	if m.uses.Name {
		return with(m.options, m.values.on(m.namespace, c), c)
	}
	key := m.uses.Fingerprint(c)
	m.mu.Lock()
	f, ok := m.known[key]
	m.mu.Unlock()
	if !ok {
		f = m.values.on(m.namespace, c)
		m.mu.Lock()
		if m.known == nil || len(m.known) >= maxKnown {
			m.known = map[uint64]filled{}
		}
		m.known[key] = f
		m.mu.Unlock()
	}
	return with(m.options, f, c)
}

// with puts values into options. An error names the field, and the cluster if that has a
// name: one that somebody only describes has none.
func with(o fleet.BundleDeploymentOptions, f filled, c *Cluster) (fleet.BundleDeploymentOptions, error) {
	if f.err != nil && c.Name == "" {
		return fleet.BundleDeploymentOptions{}, f.err
	}
	if f.err != nil {
		return fleet.BundleDeploymentOptions{}, fmt.Errorf("cluster %s: %w", c.Name, f.err)
	}
	helm := *o.Helm
	helm.Values, helm.TemplateValues = &fleet.GenericMap{Data: f.data}, nil
	o.Helm = &helm
	return o, nil
}

// Render returns options as they are on a cluster: values from labels and templates are
// filled in, and templateValues have become values. namespace is the bundle's. What is
// returned shares with o what is the same. Whoever renders one bundle on many clusters
// uses Match.Render, which reads the templates once.
func Render(namespace string, o fleet.BundleDeploymentOptions, c *Cluster) (fleet.BundleDeploymentOptions, error) {
	return newMade(namespace, deployed(o)).render(c)
}

// on makes the values for a cluster: what is not templated is shared.
func (v *values) on(namespace string, c *Cluster) filled {
	data, err := v.data(namespace, c)
	return filled{data, err}
}

func (v *values) data(namespace string, c *Cluster) (map[string]any, error) {
	if v.err != nil {
		return nil, v.err
	}
	if c.ValuesError != nil && !v.needs.Values.None() {
		return nil, c.ValuesError
	}
	data := v.labelled(c)
	if v.text != nil {
		dynamic, err := v.fill(namespace, c)
		if err != nil {
			return nil, err
		}
		data = maps.Clone(v.static)
		maps.Copy(data, dynamic)
	}
	if len(v.keyed) == 0 {
		return data, nil
	}
	data = maps.Clone(data)
	for _, key := range slices.Sorted(maps.Keys(v.keyed)) {
		value, err := v.fillKey(namespace, key, c)
		if err != nil {
			return nil, err
		}
		data[key] = value
	}
	return data, nil
}
