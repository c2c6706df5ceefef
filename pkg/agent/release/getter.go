package release

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// getter is how Helm gets its clients: the agent's own configuration and REST
// mapper, and one namespace.
type getter struct {
	config    *rest.Config
	discovery discovery.DiscoveryInterface
	mapper    meta.RESTMapper
	namespace string
}

func (g getter) ToRESTConfig() (*rest.Config, error) { return rest.CopyConfig(g.config), nil }

// ToDiscoveryClient returns a new cache each time: Helm invalidates it for each
// operation, which must not hit another operation half way.
func (g getter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return memory.NewMemCacheClient(g.discovery), nil
}

func (g getter) ToRESTMapper() (meta.RESTMapper, error) { return g.mapper, nil }

func (g getter) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	return clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), &clientcmd.ConfigOverrides{
		Context: clientcmdapi.Context{Namespace: g.namespace},
	})
}
