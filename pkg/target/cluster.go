package target

import (
	"errors"
	"fmt"
	"strings"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/target/template"
)

// Cluster is what of a ManagedCluster decides about matching and options.
type Cluster struct {
	Name                string
	Labels, Annotations map[string]string
	// Claims are the ClusterClaims that the cluster reports, by name.
	Claims map[string]string
	// Values are what templates know as ClusterValues: see ClusterValues. They are read,
	// never changed.
	Values map[string]any
	// ValuesError says why there are none. It is an error of the bundles only that use them.
	ValuesError error
}

// maxClusterValues bounds the annotation in bytes.
const maxClusterValues = 64 << 10

// ErrClusterValues is wrapped by every error about a cluster's own values. It does not
// quote them.
var ErrClusterValues = errors.New("annotation " + v1alpha1.AnnotationClusterValues)

// ClusterValues makes the values of a cluster of the customized variables that its add-on
// has by its configuration, and of the ManagedCluster's annotation
// v1alpha1.AnnotationClusterValues, "" if there is none. The annotation's maps merge over
// the variables.
func ClusterValues(variables map[string]string, annotation string) (map[string]any, error) {
	out := make(map[string]any, len(variables))
	for name, value := range variables {
		out[name] = value
	}
	if strings.TrimSpace(annotation) == "" {
		return out, nil
	}
	if len(annotation) > maxClusterValues {
		return nil, fmt.Errorf("%w has %d bytes: %d are allowed; move some to an AddOnDeploymentConfig", ErrClusterValues, len(annotation), maxClusterValues)
	}
	value, err := template.Decode([]byte(annotation), maxClusterValues)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrClusterValues, err)
	}
	own, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%w is no map in YAML or JSON", ErrClusterValues)
	}
	mergeTree(out, own)
	return out, nil
}
