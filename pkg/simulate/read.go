package simulate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// Files are the documents that were read.
type Files struct {
	scripts    []document[Simulation]
	bundles    []document[fleet.Bundle]
	policies   []document[v1alpha1.RolloutPolicy]
	addOns     []document[addonv1beta1.ClusterManagementAddOn]
	placements []document[clusterv1beta1.Placement]
	clusters   []document[clusterv1.ManagedCluster]
	groups     []document[fleet.ClusterGroup]
	namespaces []document[corev1.Namespace]
	// unused are documents of which only their presence is known, by kind.
	unused []string
}

// document is an object and where it stands, "FILE: document 2 (Bundle app/web)".
type document[T any] struct {
	at     string
	object *T
}

// reader of each kind, by apiVersion and kind.
func (f *Files) readers() map[string]func(at string, doc map[string]any) error {
	return map[string]func(at string, doc map[string]any) error{
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

func into[T any](list *[]document[T]) func(string, map[string]any) error {
	return func(at string, doc map[string]any) error {
		object := new(T)
		if err := decode(doc, object); err != nil {
			return located(at, err)
		}
		*list = append(*list, document[T]{at, object})
		return nil
	}
}

func (f *Files) unusedKind(kind string) func(string, map[string]any) error {
	return func(string, map[string]any) error {
		if !slices.Contains(f.unused, kind) {
			f.unused = append(f.unused, kind)
		}
		return nil
	}
}

// located says of each of several errors where it is.
func located(at string, err error) error {
	if err == nil {
		return nil
	}
	var several interface{ Unwrap() []error }
	if !errors.As(err, &several) {
		return fmt.Errorf("%s: %w", at, err)
	}
	var list []error
	for _, e := range several.Unwrap() {
		list = append(list, fmt.Errorf("%s: %w", at, e))
	}
	return errors.Join(list...)
}

// Read adds the YAML documents of one file. Errors name the file, the document and
// the field; documents without one are read all the same.
func (f *Files) Read(name string, data []byte) error {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	var errs []error
	for n := 1; ; {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return errors.Join(errs...)
		}
		if err != nil {
			return errors.Join(append(errs, fmt.Errorf("%s: %w", name, err))...)
		}
		doc := map[string]any{}
		if err := yaml.UnmarshalStrict(text, &doc); err != nil {
			errs = append(errs, fmt.Errorf("%s: document %d: %w", name, n, err))
			n++
			continue
		}
		if len(doc) == 0 {
			continue
		}
		errs = append(errs, f.add(fmt.Sprintf("%s: document %d", name, n), doc))
		n++
	}
}

// add takes one document in, or the items of a list.
func (f *Files) add(at string, doc map[string]any) error {
	kind, _ := doc["kind"].(string)
	version, _ := doc["apiVersion"].(string)
	if items, ok := doc["items"].([]any); ok && strings.HasSuffix(kind, "List") {
		var errs []error
		for i, item := range items {
			object, ok := item.(map[string]any)
			if !ok {
				errs = append(errs, fmt.Errorf("%s: items[%d]: an object is wanted", at, i))
				continue
			}
			errs = append(errs, f.add(fmt.Sprintf("%s: items[%d]", at, i), object))
		}
		return errors.Join(errs...)
	}
	readers := f.readers()
	read, ok := readers[version+" "+kind]
	if !ok {
		known := make([]string, 0, len(readers))
		for key := range readers {
			version, kind, _ := strings.Cut(key, " ")
			known = append(known, kind+" ("+version+")")
		}
		slices.Sort(known)
		return fmt.Errorf("%s: kind: %q of apiVersion %q cannot be simulated; known are %s", at, kind, version, strings.Join(known, ", "))
	}
	return read(fmt.Sprintf("%s (%s)", at, titled(kind, doc)), doc)
}

func titled(kind string, doc map[string]any) string {
	meta, _ := doc["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	if namespace, _ := meta["namespace"].(string); namespace != "" {
		name = namespace + "/" + name
	}
	return strings.TrimSpace(kind + " " + name)
}
