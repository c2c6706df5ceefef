package simulate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/document"
)

// Files are the documents that were read.
type Files struct {
	scripts    []source[Simulation]
	bundles    []source[fleet.Bundle]
	policies   []source[v1alpha1.RolloutPolicy]
	addOns     []source[addonv1beta1.ClusterManagementAddOn]
	placements []source[clusterv1beta1.Placement]
	clusters   []source[clusterv1.ManagedCluster]
	groups     []source[fleet.ClusterGroup]
	namespaces []source[corev1.Namespace]
	// unused are documents of which only their presence is known, by kind.
	unused []string
}

// source is an object and where it stands, "FILE: document 2 (Bundle app/web)".
type source[T any] struct {
	at     string
	object *T
}

// reader of each kind, by apiVersion and kind.
func (f *Files) readers() map[string]func(document.Document) error {
	return map[string]func(document.Document) error{
		APIVersion + " " + Kind:                                        into(&f.scripts),
		v1alpha1.GroupVersion.String() + " RolloutPolicy":              into(&f.policies),
		"fleet.cattle.io/v1alpha1 Bundle":                              into(&f.bundles),
		"fleet.cattle.io/v1alpha1 ClusterGroup":                        into(&f.groups),
		addonv1beta1.GroupVersion.String() + " ClusterManagementAddOn": into(&f.addOns),
		clusterv1beta1.GroupVersion.String() + " Placement":            into(&f.placements),
		clusterv1.GroupVersion.String() + " ManagedCluster":            into(&f.clusters),
		"v1 Namespace": into(&f.namespaces),
		clusterv1beta2.GroupVersion.String() + " ManagedClusterSet":        f.unusedKind("ManagedClusterSet"),
		clusterv1beta2.GroupVersion.String() + " ManagedClusterSetBinding": f.unusedKind("ManagedClusterSetBinding"),
	}
}

func into[T any](list *[]source[T]) func(document.Document) error {
	return func(d document.Document) error {
		object := new(T)
		if err := d.Into(object); err != nil {
			return err
		}
		*list = append(*list, source[T]{d.Place(), object})
		return nil
	}
}

func (f *Files) unusedKind(kind string) func(document.Document) error {
	return func(document.Document) error {
		if !slices.Contains(f.unused, kind) {
			f.unused = append(f.unused, kind)
		}
		return nil
	}
}

// Read adds the YAML documents of one file. Errors name the file, the document and
// the field; documents without one are read all the same.
func (f *Files) Read(name string, data []byte) error {
	documents, err := document.Read(name, data)
	errs := []error{err}
	for _, d := range documents {
		errs = append(errs, f.add(d))
	}
	return errors.Join(errs...)
}

// add takes one document in.
func (f *Files) add(d document.Document) error {
	readers := f.readers()
	read, ok := readers[d.APIVersion+" "+d.Kind]
	if !ok {
		known := make([]string, 0, len(readers))
		for key := range readers {
			version, kind, _ := strings.Cut(key, " ")
			known = append(known, kind+" ("+version+")")
		}
		slices.Sort(known)
		return fmt.Errorf("%s: kind: %q of apiVersion %q cannot be simulated; known are %s", d.At, d.Kind, d.APIVersion, strings.Join(known, ", "))
	}
	return read(d)
}
