package addon

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"open-cluster-management.io/addon-framework/pkg/addonfactory"
	"open-cluster-management.io/addon-framework/pkg/addonmanager"
	"open-cluster-management.io/addon-framework/pkg/agent"
	"open-cluster-management.io/addon-framework/pkg/utils"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/fleet-addon/manifests"
	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// agentName is the last part of the user name that an agent has on the hub.
const agentName = "fleet-agent"

// What the framework's clients may send. client-go's 5 a second would make the
// start on a hub with thousands of clusters a matter of hours.
const (
	defaultQPS   = 100
	defaultBurst = 200
)

// Options of the add-on.
type Options struct {
	// AgentImage is used where no AddOnDeploymentConfig names an image in its
	// variable `image`. Required.
	AgentImage string
	// QPS and Burst limit the requests of the framework's controllers. 0: 100 and 200.
	QPS   float32
	Burst int
}

// Manager runs the controllers of the add-on framework. It is a Runnable of a
// controller-runtime manager and runs on the leader only.
type Manager struct {
	framework addonmanager.AddonManager
	configs   *configs
	// informers that must be synced before anything is rendered or granted.
	start  []func(stop <-chan struct{})
	synced []cache.InformerSynced
}

// New builds the manager; nothing runs before Start.
func New(cfg *rest.Config, opts Options) (*Manager, error) {
	if opts.AgentImage == "" {
		return nil, errors.New("the agent image is not set")
	}
	cfg = limited(cfg, opts)
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("build the client of the hub: %w", err)
	}
	dyn, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("build the dynamic client of the hub: %w", err)
	}

	framework, err := addonmanager.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("build the add-on manager: %w", err)
	}
	m := &Manager{framework: framework, configs: newConfigs()}
	if err := m.watchConfigs(dyn); err != nil {
		return nil, err
	}
	agentAddon, err := newAgentAddon(m.configs, opts.AgentImage, m.watchPermissions(kube))
	if err != nil {
		return nil, err
	}
	if err := framework.AddAgent(agentAddon); err != nil {
		return nil, fmt.Errorf("register the agent: %w", err)
	}
	return m, nil
}

// newAgentAddon describes the agent to the framework.
func newAgentAddon(configs *configs, image string, permissions agent.PermissionConfigFunc) (agent.AgentAddon, error) {
	version, err := Version()
	if err != nil {
		return nil, err
	}
	built, err := addonfactory.NewAgentAddonFactory(v1alpha1.AddOnName, manifests.Agent, manifests.AgentChart).
		WithConfigGVRs(utils.AddOnDeploymentConfigGVR).
		WithConfigCheckEnabledOption().
		WithHelmEngineStrict().
		WithGetValuesFuncs(agentValues{configs: configs, image: image, version: version}.forCluster).
		WithAgentInstallNamespace(configs.installNamespace).
		WithAgentDeployTriggerClusterFilter(clusterMatters).
		WithAgentRegistrationOption(&agent.RegistrationOption{
			Configurations:   agent.KubeClientSignerConfigurations(v1alpha1.AddOnName, agentName),
			CSRApproveCheck:  approve,
			PermissionConfig: permissions,
		}).
		BuildHelmAgentAddon()
	if err != nil {
		return nil, fmt.Errorf("build the agent's chart: %w", err)
	}
	return built, nil
}

// clusterMatters says whether a change of a ManagedCluster can change its agent.
// Availability is among it: without it a cluster that comes back stays Unknown
// until the next resync.
func clusterMatters(old, new *clusterv1.ManagedCluster) bool {
	return utils.ClusterAvailableConditionChanged(old, new) || utils.ClusterImageRegistriesAnnotationChanged(old, new)
}

// Start runs until the context ends.
func (m *Manager) Start(ctx context.Context) error {
	for _, start := range m.start {
		start(ctx.Done())
	}
	if !cache.WaitForCacheSync(ctx.Done(), m.synced...) {
		// Ended before it began.
		return nil
	}
	if err := m.framework.Start(ctx); err != nil {
		return fmt.Errorf("start the add-on manager: %w", err)
	}
	<-ctx.Done()
	return nil
}

// NeedLeaderElection keeps two replicas from answering the same requests.
func (m *Manager) NeedLeaderElection() bool { return true }

// watchConfigs remembers every AddOnDeploymentConfig by the hash of its spec.
func (m *Manager) watchConfigs(dyn dynamic.Interface) error {
	factory := dynamicinformer.NewDynamicSharedInformerFactory(dyn, 0)
	informer := factory.ForResource(utils.AddOnDeploymentConfigGVR).Informer()
	handler, err := informer.AddEventHandler(m.configs)
	if err != nil {
		return fmt.Errorf("watch AddOnDeploymentConfigs: %w", err)
	}
	m.start = append(m.start, factory.Start)
	m.synced = append(m.synced, handler.HasSynced)
	return nil
}

// watchPermissions keeps the Roles and RoleBindings that this add-on wrote at hand,
// so that what is unchanged needs no request at all.
func (m *Manager) watchPermissions(kube kubernetes.Interface) agent.PermissionConfigFunc {
	factory := informers.NewSharedInformerFactoryWithOptions(kube, 0,
		informers.WithTweakListOptions(func(list *metav1.ListOptions) {
			list.LabelSelector = labels.Set{addonv1beta1.AddonLabelKey: v1alpha1.AddOnName}.String()
		}))
	roles, bindings := factory.Rbac().V1().Roles(), factory.Rbac().V1().RoleBindings()
	m.synced = append(m.synced, roles.Informer().HasSynced, bindings.Informer().HasSynced)
	m.start = append(m.start, factory.Start)
	p := &permissions{client: kube.RbacV1(), roles: roles.Lister(), bindings: bindings.Lister()}
	return p.grant
}

func limited(cfg *rest.Config, opts Options) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS, cfg.Burst = opts.QPS, opts.Burst
	if cfg.QPS == 0 {
		cfg.QPS = defaultQPS
	}
	if cfg.Burst == 0 {
		cfg.Burst = defaultBurst
	}
	return cfg
}
