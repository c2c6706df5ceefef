package targeting

import (
	"errors"
	"fmt"
	"slices"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/document"
	"open-cluster-management.io/fleet-addon/pkg/hub/cluster"
	"open-cluster-management.io/fleet-addon/pkg/target"
)

// file is what documents say of clusters.
type file struct {
	clusters []clusterv1.ManagedCluster
	groups   []fleet.ClusterGroup
	addOns   map[string]*addonv1beta1.ManagedClusterAddOn
	configs  map[string]map[string]string
}

// FromDocuments takes the ManagedClusters, ClusterGroups and, for ClusterValues, the
// ManagedClusterAddOns and AddOnDeploymentConfigs of a file for a bundle's namespace; other
// kinds are passed over. Every cluster of the file may be used. name is the file's.
func FromDocuments(name string, documents []document.Document, namespace string) (*World, error) {
	f := &file{addOns: map[string]*addonv1beta1.ManagedClusterAddOn{}, configs: map[string]map[string]string{}}
	var errs []error
	for _, d := range documents {
		errs = append(errs, f.add(d))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(f.clusters) == 0 {
		return nil, fmt.Errorf("%s: there is no ManagedCluster in it: write one document for each cluster, with its labels", name)
	}
	return f.world(name, namespace)
}

func (f *file) add(d document.Document) error {
	switch d.Kind {
	case "ManagedCluster":
		c := clusterv1.ManagedCluster{}
		err := d.Into(&c)
		f.clusters = append(f.clusters, c)
		return named(d, c.Name, err)
	case "ClusterGroup":
		g := fleet.ClusterGroup{}
		err := d.Into(&g)
		f.groups = append(f.groups, g)
		return named(d, g.Name, err)
	case "ManagedClusterAddOn":
		a := &addonv1beta1.ManagedClusterAddOn{}
		err := d.Into(a)
		if a.Name == v1alpha1.AddOnName {
			f.addOns[a.Namespace] = a
		}
		return named(d, a.Name, err)
	case "AddOnDeploymentConfig":
		c := &addonv1beta1.AddOnDeploymentConfig{}
		err := d.Into(c)
		variables := map[string]string{}
		for _, v := range c.Spec.CustomizedVariables {
			variables[v.Name] = v.Value
		}
		f.configs[c.Namespace+"/"+c.Name] = variables
		return named(d, c.Name, err)
	}
	return nil
}

func named(d document.Document, name string, err error) error {
	if err == nil && name == "" {
		return fmt.Errorf("%s: metadata.name: is missing", d.Place())
	}
	return err
}

func (f *file) world(name, namespace string) (*World, error) {
	w := &World{}
	for i := range f.clusters {
		mc := &f.clusters[i]
		if slices.ContainsFunc(w.Clusters, func(c Cluster) bool { return c.Name == mc.Name }) {
			return nil, fmt.Errorf("%s: ManagedCluster %s stands twice in it", name, mc.Name)
		}
		c := Cluster{Cluster: Of(mc), AgentNamespace: cluster.AgentNamespace(f.addOns[mc.Name])}
		variables, err := f.variables(mc.Name)
		if err != nil {
			c.ValuesError = fmt.Errorf("%s: %w", name, err)
		} else if c.Values, err = target.ClusterValues(variables, mc.Annotations[v1alpha1.AnnotationClusterValues]); err != nil {
			c.ValuesError = fmt.Errorf("ManagedCluster %s: %w", mc.Name, err)
		}
		w.Clusters = append(w.Clusters, c)
	}
	var groups []fleet.ClusterGroup
	elsewhere := 0
	for _, g := range f.groups {
		if g.Namespace == "" || g.Namespace == namespace {
			groups = append(groups, g)
		} else {
			elsewhere++
		}
	}
	w.Groups = target.Groups(groups)
	if elsewhere > 0 {
		w.Notes = append(w.Notes, fmt.Sprintf("%d of the ClusterGroups in %s are not in the bundle's namespace %s and are not used.", elsewhere, name, namespace))
	}
	w.sort()
	return w, nil
}

// variables are the customized ones of the config of a cluster: the one that its add-on
// names or, where the file has no add-on for it, the only one there is.
func (f *file) variables(name string) (map[string]string, error) {
	addOn := f.addOns[name]
	if addOn == nil {
		if len(f.configs) > 1 {
			return nil, fmt.Errorf("cluster %s: which of the %d AddOnDeploymentConfigs is its own? Add its ManagedClusterAddOn `%s`", name, len(f.configs), v1alpha1.AddOnName)
		}
		for _, variables := range f.configs {
			return variables, nil
		}
		return nil, nil
	}
	for _, ref := range addOn.Status.ConfigReferences {
		if ref.DesiredConfig == nil || ref.Resource != "addondeploymentconfigs" {
			continue
		}
		key := ref.DesiredConfig.Namespace + "/" + ref.DesiredConfig.Name
		variables, ok := f.configs[key]
		if !ok {
			return nil, fmt.Errorf("cluster %s: the AddOnDeploymentConfig %s that its ManagedClusterAddOn names is not there", name, key)
		}
		return variables, nil
	}
	return nil, nil
}
