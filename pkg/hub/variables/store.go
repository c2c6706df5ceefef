package variables

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"open-cluster-management.io/addon-framework/pkg/utils"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/target"
)

// ErrPending says that nobody knows yet which variables are in force on a cluster.
var ErrPending = errors.New("the customized variables that are in force are not known")

// keptVersions of a config are remembered: as many as there can be groups of OCM's
// rollout that still have an older one, within reason.
const keptVersions = 8

// Store remembers configs by name and hash, and the values of clusters that somebody
// has asked for. It is safe for concurrent use.
type Store struct {
	reader client.Reader

	mu      sync.Mutex
	configs map[types.NamespacedName][]version // the newest last
	values  map[string]parsed
}

// version is what a config said once.
type version struct {
	hash      string
	variables map[string]string
}

// parsed are the values of a cluster, and what they were made of.
type parsed struct {
	from   origin
	values map[string]any
	err    error
}

// origin is all that the values of a cluster depend on.
type origin struct {
	config           types.NamespacedName
	hash, annotation string
}

// NewStore returns a store that reads configs, as Strip leaves them, from a cache.
func NewStore(reader client.Reader) *Store {
	return &Store{reader: reader, configs: map[types.NamespacedName][]version{}, values: map[string]parsed{}}
}

// Remember keeps what a config says now beside what it said before.
func (s *Store) Remember(config *unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remember(config)
}

func (s *Store) remember(config *unstructured.Unstructured) {
	key, now := client.ObjectKeyFromObject(config), read(config)
	kept := slices.DeleteFunc(s.configs[key], func(v version) bool { return v.hash == now.hash })
	kept = append(kept, now)
	s.configs[key] = kept[max(0, len(kept)-keptVersions):]
}

// Forget drops a cluster that is gone.
func (s *Store) Forget(cluster string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, cluster)
}

// Of returns the values of a cluster, which are read and never changed. The error is
// ErrPending where time or OCM will tell, or target.ErrClusterValues where the annotation
// has to be corrected; both name the object. addOn may be nil.
func (s *Store) Of(ctx context.Context, cluster *clusterv1.ManagedCluster, addOn *addonv1beta1.ManagedClusterAddOn) (map[string]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := origin{annotation: cluster.Annotations[v1alpha1.AnnotationClusterValues]}
	var variables map[string]string
	ref := reference(addOn)
	if ref != nil {
		var err error
		from.config, from.hash = types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, ref.SpecHash
		if variables, err = s.inForce(ctx, addOn, from); err != nil {
			return nil, err
		}
	}
	if known, ok := s.values[cluster.Name]; ok && known.from == from {
		return known.values, known.err
	}
	made := parsed{from: from}
	if made.values, made.err = target.ClusterValues(variables, from.annotation); made.err != nil {
		made.err = fmt.Errorf("ManagedCluster %s: %w", cluster.Name, made.err)
	}
	s.values[cluster.Name] = made
	return made.values, made.err
}

// reference is the config that an add-on says is in force; nil if it has none.
func reference(addOn *addonv1beta1.ManagedClusterAddOn) *addonv1beta1.ConfigSpecHash {
	if addOn == nil {
		return nil
	}
	gvr := utils.AddOnDeploymentConfigGVR
	found, ref := utils.GetAddOnConfigRef(addOn.Status.ConfigReferences, gvr.Group, gvr.Resource)
	if !found {
		return nil
	}
	if ref.DesiredConfig == nil {
		return &addonv1beta1.ConfigSpecHash{}
	}
	return ref.DesiredConfig
}

// SameConfig tells whether two readings of an add-on have the same config in force.
func SameConfig(a, b *addonv1beta1.ManagedClusterAddOn) bool {
	was, is := reference(a), reference(b)
	return (was == nil) == (is == nil) && (was == nil || *was == *is)
}

// inForce returns the variables of a config with a hash.
func (s *Store) inForce(ctx context.Context, addOn *addonv1beta1.ManagedClusterAddOn, from origin) (map[string]string, error) {
	if from.hash == "" {
		return nil, fmt.Errorf("ManagedClusterAddOn %s/%s: status.configReferences has no hash: %w", addOn.Namespace, addOn.Name, ErrPending)
	}
	if v := s.known(from); v != nil {
		return v.variables, nil
	}
	config := &unstructured.Unstructured{}
	config.SetGroupVersionKind(Kind)
	switch err := s.reader.Get(ctx, from.config, config); {
	case err == nil:
		s.remember(config)
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("get AddOnDeploymentConfig %s: %w: %w", from.config, ErrPending, err)
	}
	if v := s.known(from); v != nil {
		return v.variables, nil
	}
	return nil, fmt.Errorf("AddOnDeploymentConfig %s with hash %.12s, which ManagedClusterAddOn %s/%s names, is not there (any more): %w; OCM will name the one that is there",
		from.config, from.hash, addOn.Namespace, addOn.Name, ErrPending)
}

func (s *Store) known(from origin) *version {
	for i, v := range s.configs[from.config] {
		if v.hash == from.hash {
			return &s.configs[from.config][i]
		}
	}
	return nil
}
