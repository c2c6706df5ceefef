package addon

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"open-cluster-management.io/addon-framework/pkg/utils"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
)

// errConfigPending: the config that is in force for a cluster is not known by its
// hash (yet, or no more). What is deployed there stays as it is.
var errConfigPending = errors.New("the config in force for this cluster is not known")

// keptRevisions of a config are remembered: as many as there can be groups of a
// rollout that still run an older one, within reason.
const keptRevisions = 8

// configs remembers AddOnDeploymentConfigs by name and hash. OCM's rollout tells
// each cluster a hash; the framework's own getter reads the config by name, and so
// gives a cluster an edit before its turn. Here a cluster gets exactly the content
// that its hash stands for.
type configs struct {
	mu        sync.RWMutex
	revisions map[types.NamespacedName][]configRevision // the newest last
}

type configRevision struct {
	hash string
	spec addonv1beta1.AddOnDeploymentConfigSpec
}

var _ cache.ResourceEventHandler = &configs{}

func newConfigs() *configs {
	return &configs{revisions: map[types.NamespacedName][]configRevision{}}
}

// OnAdd remembers a config.
func (c *configs) OnAdd(obj any, _ bool) { c.remember(obj) }

// OnUpdate remembers the new content of a config beside the old one.
func (c *configs) OnUpdate(_, obj any) { c.remember(obj) }

// OnDelete forgets nothing: a deleted config changes no agent.
func (c *configs) OnDelete(any) {}

func (c *configs) remember(obj any) {
	config, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return
	}
	key := types.NamespacedName{Namespace: config.GetNamespace(), Name: config.GetName()}
	// The same function over the same form as in the framework, which publishes the hash.
	hash, err := utils.GetSpecHash(config)
	if err != nil {
		klog.ErrorS(err, "AddOnDeploymentConfig has no hash", "config", key)
		return
	}
	var typed addonv1beta1.AddOnDeploymentConfig
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(config.Object, &typed); err != nil {
		klog.ErrorS(err, "AddOnDeploymentConfig cannot be read", "config", key)
		return
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	kept := []configRevision{}
	for _, revision := range c.revisions[key] {
		if revision.hash != hash {
			kept = append(kept, revision)
		}
	}
	kept = append(kept, configRevision{hash: hash, spec: typed.Spec})
	c.revisions[key] = kept[max(0, len(kept)-keptRevisions):]
}

// inForce returns the config that OCM's rollout has given to a cluster: nil when
// its add-on has none, errConfigPending when it cannot be told.
func (c *configs) inForce(addon *addonv1beta1.ManagedClusterAddOn) (*addonv1beta1.AddOnDeploymentConfig, error) {
	found, ref := utils.GetAddOnConfigRef(addon.Status.ConfigReferences,
		utils.AddOnDeploymentConfigGVR.Group, utils.AddOnDeploymentConfigGVR.Resource)
	if !found {
		return nil, nil
	}
	if ref.DesiredConfig == nil || ref.DesiredConfig.SpecHash == "" {
		return nil, fmt.Errorf("ManagedClusterAddOn %s/%s: status.configReferences has no hash: %w",
			addon.Namespace, addon.Name, errConfigPending)
	}
	key := types.NamespacedName{Namespace: ref.DesiredConfig.Namespace, Name: ref.DesiredConfig.Name}

	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, revision := range c.revisions[key] {
		if revision.hash == ref.DesiredConfig.SpecHash {
			config := &addonv1beta1.AddOnDeploymentConfig{Spec: *revision.spec.DeepCopy()}
			config.Namespace, config.Name = key.Namespace, key.Name
			return config, nil
		}
	}
	return nil, fmt.Errorf("AddOnDeploymentConfig %s with hash %.12s: %w", key, ref.DesiredConfig.SpecHash, errConfigPending)
}

// installNamespace of the agent on a cluster; empty means OCM's default. As long as
// the config cannot be told, the agent stays where it is.
func (c *configs) installNamespace(_ context.Context, addon *addonv1beta1.ManagedClusterAddOn) (string, error) {
	config, err := c.inForce(addon)
	switch {
	case errors.Is(err, errConfigPending) && addon.Status.Namespace != "":
		return addon.Status.Namespace, nil
	case err != nil:
		return "", err
	case config == nil:
		return "", nil
	}
	return config.Spec.AgentInstallNamespace, nil
}
