// Package bundlefile reads and writes files of Bundles: those that people wrote, that
// `fleetctl apply -o` wrote, or that came from a hub. A Bundle of a file has its Helm
// values in it.
package bundlefile

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/fleet-addon/pkg/document"
	"open-cluster-management.io/fleet-addon/pkg/values"
)

// Bundle is a Bundle and where it stands, such as "bundle.yaml: document 2 (Bundle web)".
type Bundle struct {
	*fleet.Bundle
	At string
}

// ErrNone says that a file has no Bundle.
var ErrNone = errors.New("there is no Bundle in it; `fleetctl apply -o FILE` makes a file of the bundles of a directory")

// Read reads the Bundles of a file or, for "-", of in; there is at least one. Other kinds
// are passed over, but for the Secrets with the values of Bundles that have a
// spec.valuesHash. Where there is no such Secret, the Bundle keeps its spec.valuesHash:
// its values are elsewhere. Errors name file, document and field.
func Read(file string, in io.Reader) ([]Bundle, error) {
	documents, err := document.Load(file, in)
	if err != nil {
		return nil, err
	}
	if file == "-" {
		file = document.StandardInput
	}
	return Of(file, documents)
}

// Of is Read for documents that were read already; name is the file's.
func Of(name string, documents []document.Document) ([]Bundle, error) {
	var out []Bundle
	var errs []error
	var others []string
	secrets := map[types.NamespacedName]*corev1.Secret{}
	for _, d := range documents {
		switch {
		case Is(d):
			b := &fleet.Bundle{}
			errs = append(errs, d.Into(b))
			out = append(out, Bundle{Bundle: b, At: d.Place()})
		case d.APIVersion == "v1" && d.Kind == "Secret":
			secret := &corev1.Secret{}
			errs = append(errs, d.Into(secret))
			secrets[types.NamespacedName{Namespace: secret.Namespace, Name: secret.Name}] = secret
		default:
			others = append(others, kindOf(d))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, none(name, others)
	}
	for _, b := range out {
		errs = append(errs, b.fill(secrets))
	}
	errs = append(errs, twice(out))
	return out, errors.Join(errs...)
}

// Is tells whether a document is a Bundle.
func Is(d document.Document) bool {
	group, _, _ := strings.Cut(d.APIVersion, "/")
	return d.Kind == "Bundle" && group == fleet.SchemeGroupVersion.Group
}

func kindOf(d document.Document) string {
	if d.Kind == "" {
		return "something without a kind"
	}
	return d.Kind
}

func none(name string, others []string) error {
	if len(others) == 0 {
		return fmt.Errorf("%s: the file is empty: %w", name, ErrNone)
	}
	slices.Sort(others)
	return fmt.Errorf("%s: %w; it has %s", name, ErrNone, strings.Join(slices.Compact(others), ", "))
}

// fill puts the values of a Secret into a Bundle that has only their hash.
func (b Bundle) fill(secrets map[types.NamespacedName]*corev1.Secret) error {
	if b.Spec.ValuesHash == "" {
		return nil
	}
	secret := secrets[types.NamespacedName{Namespace: b.Namespace, Name: b.Name}]
	if secret == nil {
		return nil
	}
	data := maps.Clone(secret.Data)
	if data == nil {
		data = map[string][]byte{}
	}
	for key, text := range secret.StringData {
		data[key] = []byte(text)
	}
	if err := values.Put(b.Bundle, data); err != nil {
		return fmt.Errorf("%s: Secret %s: %w", b.At, secret.Name, err)
	}
	b.Spec.ValuesHash = ""
	return nil
}

func twice(list []Bundle) error {
	known := map[types.NamespacedName]string{}
	for _, b := range list {
		key := types.NamespacedName{Namespace: b.Namespace, Name: b.Name}
		if other, found := known[key]; found && b.Name != "" {
			return fmt.Errorf("%s: metadata.name: it stands in %s too; a bundle has one definition", b.At, other)
		}
		known[key] = b.At
	}
	return nil
}
