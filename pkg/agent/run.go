package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"open-cluster-management.io/addon-framework/pkg/lease"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"open-cluster-management.io/fleet-addon/pkg/agent/deploy"
	"open-cluster-management.io/fleet-addon/pkg/agent/health"
	"open-cluster-management.io/fleet-addon/pkg/agent/hub"
	"open-cluster-management.io/fleet-addon/pkg/agent/release"
	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

const (
	// leaderLease lets only one of two agents deploy while one replaces the other.
	leaderLease = "fleet-agent-leader"
	// gracePeriod for the Helm operations that are under way when the agent stops.
	gracePeriod = 25 * time.Second

	// Helm does many small calls; the API server's own fairness guards it better
	// than client-go's default of 5 a second.
	clientQPS   = 100
	clientBurst = 200
)

// Run runs the agent until ctx ends, and returns once what was under way is done.
func Run(ctx context.Context, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	cfg, err := clusterConfig(o)
	if err != nil {
		return err
	}
	mgr, err := newManager(ctx, cfg, o)
	if err != nil {
		return err
	}
	if err := addParts(ctx, mgr, o); err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("run the agent: %w", err)
	}
	return nil
}

func clusterConfig(o Options) (*rest.Config, error) {
	cfg := o.Config
	if cfg == nil {
		var err error
		if cfg, err = config.GetConfig(); err != nil {
			return nil, fmt.Errorf("configuration of the managed cluster: %w", err)
		}
	}
	cfg = rest.CopyConfig(cfg)
	cfg.QPS, cfg.Burst = clientQPS, clientBurst
	cfg.UserAgent = "fleet-agent"
	return cfg, nil
}

func newManager(ctx context.Context, cfg *rest.Config, o Options) (manager.Manager, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("scheme: %w", err)
		}
	}
	grace := gracePeriod
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                  scheme,
		Logger:                  logr.FromContextOrDiscard(ctx),
		BaseContext:             func() context.Context { return ctx },
		Cache:                   cache.Options{DefaultNamespaces: map[string]cache.Config{o.Namespace: {}}, DefaultTransform: cache.TransformStripManagedFields()},
		Metrics:                 metricsserver.Options{BindAddress: o.MetricsBindAddress},
		HealthProbeBindAddress:  o.HealthProbeBindAddress,
		GracefulShutdownTimeout: &grace,

		LeaderElection:                true,
		LeaderElectionID:              leaderLease,
		LeaderElectionNamespace:       o.Namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, fmt.Errorf("manager: %w", err)
	}
	for _, add := range []func(string, healthz.Checker) error{mgr.AddHealthzCheck, mgr.AddReadyzCheck} {
		if err := add("ping", healthz.Ping); err != nil {
			return nil, fmt.Errorf("health check: %w", err)
		}
	}
	return mgr, nil
}

func addParts(ctx context.Context, mgr manager.Manager, o Options) error {
	cfg := mgr.GetConfig()
	releases, err := release.New(cfg, mgr.GetRESTMapper())
	if err != nil {
		return err
	}
	dyn, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("dynamic client: %w", err)
	}
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	r := &deploy.Reconciler{
		Client:    mgr.GetClient(),
		Live:      mgr.GetAPIReader(),
		Namespace: o.Namespace,
		Releases:  releases,
		Clock:     clock.RealClock{},
		Limiter:   deploy.NewLimiter(),
		Jitter:    o.ContentJitter,
	}
	watcher := health.New(dyn, mgr.GetRESTMapper(), release.LabelOwner, r.Wake)
	r.Health = watcher
	connection := hub.New(hub.Options{
		Kubeconfig: o.HubKubeconfig,
		Cluster:    o.ClusterName,
		Interval:   o.ReportInterval,
		Local:      r,
		Changed:    func() { r.WakeAll(ctx) },
		Clock:      clock.RealClock{},
	})
	r.Hub = connection
	if err := r.SetupWithManager(ctx, mgr, o.Workers); err != nil {
		return err
	}
	alive := lease.NewLeaseUpdater(kube, v1alpha1.AddOnName, o.Namespace)
	for _, part := range []manager.Runnable{
		manager.RunnableFunc(watcher.Start),
		connection,
		manager.RunnableFunc(func(ctx context.Context) error {
			alive.Start(ctx)
			return nil
		}),
	} {
		if err := mgr.Add(part); err != nil {
			return fmt.Errorf("add to the manager: %w", err)
		}
	}
	return nil
}
