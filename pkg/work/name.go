package work

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

const (
	maxLabel   = 63
	hashDigits = 10
)

// Name is the name of the ManifestWork of a bundle, and of the BundleDeployment
// in it. It always ends in a hash of namespace and name, because a-b/c must not
// become a/b-c, and is a DNS label: a bundle's name may have dots.
func Name(bundle types.NamespacedName) string {
	return cut(strings.ReplaceAll(bundle.Name, ".", "-"), bundle.String())
}

// valuesName is the name of the Secret that holds a work's Helm values.
func valuesName(bundle types.NamespacedName) string { return Name(bundle) + "-values" }

// Labels find all that belongs to a bundle. Names that are too long for a label
// are cut and end in a hash; the full ones stand in an annotation.
func Labels(bundle types.NamespacedName) map[string]string {
	return map[string]string{
		v1alpha1.LabelBundle:          labelValue(bundle.Name),
		v1alpha1.LabelBundleNamespace: labelValue(bundle.Namespace),
	}
}

// Selector selects the works of a bundle.
func Selector(bundle types.NamespacedName) labels.Selector {
	return labels.SelectorFromSet(Labels(bundle))
}

func labelValue(name string) string {
	if len(name) <= maxLabel {
		return name
	}
	return cut(name, name)
}

// cut shortens a name so that it fits in 63 characters with a hash of id behind it.
func cut(name, id string) string {
	sum := sha256.Sum256([]byte(id))
	if limit := maxLabel - 1 - hashDigits; len(name) > limit {
		name = name[:limit]
	}
	return fmt.Sprintf("%s-%s", strings.TrimRight(name, "-."), hex.EncodeToString(sum[:])[:hashDigits])
}
