package release

import (
	"crypto/md5"
	"encoding/hex"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

const (
	// maxName is Helm's limit for the name of a release.
	maxName = 53
	// hashDigits that make a cut name unique.
	hashDigits = 5
	// defaultNamespace is where a bundle goes that names no namespace.
	defaultNamespace = "default"
)

// Key is where a Helm release is.
type Key struct {
	Namespace, Name string
}

// String is "namespace/name".
func (k Key) String() string { return k.Namespace + "/" + k.Name }

// KeyOf returns where the release of a bundle ("namespace/name" on the hub)
// goes: under the release name of its options, else the bundle's, and into the
// namespace that they force, else the default one they name, else "default".
func KeyOf(bundle string, o fleet.BundleDeploymentOptions) Key {
	key := Key{Namespace: defaultNamespace, Name: limitName(bundle[strings.LastIndex(bundle, "/")+1:])}
	switch {
	case o.TargetNamespace != "":
		key.Namespace = o.TargetNamespace
	case o.DefaultNamespace != "":
		key.Namespace = o.DefaultNamespace
	}
	if o.Helm != nil && o.Helm.ReleaseName != "" {
		key.Name = o.Helm.ReleaseName
	}
	return key
}

// limitName cuts a name as Fleet does, with the hash that Fleet takes, so that a bundle that moves here keeps
// the name of its release.
func limitName(name string) string {
	if len(name) <= maxName {
		return name
	}
	sum := md5.Sum([]byte(name))
	// A part of a name may not begin with a hyphen.
	return strings.TrimRight(name[:maxName-hashDigits-1], ".") + "-" + hex.EncodeToString(sum[:])[:hashDigits]
}
