package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"open-cluster-management.io/fleet-addon/pkg/addon"
	"open-cluster-management.io/fleet-addon/pkg/hub"
)

// stopTimeout is how long running reconciles may take to end; the lease is
// released after them.
const stopTimeout = 20 * time.Second

type managerOptions struct {
	hub            *hub.Options
	agentImage     string
	namespace      string
	metricsAddress string
	probeAddress   string
	logLevel       string
	leaderElection bool
}

func newManagerCommand() *cobra.Command {
	o := &managerOptions{hub: hub.NewOptions()}
	cmd := &cobra.Command{
		Use:   "manager",
		Short: "Runs the controllers of the hub",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	fs := cmd.Flags()
	o.hub.AddFlags(fs)
	fs.StringVar(&o.agentImage, "agent-image", os.Getenv("AGENT_IMAGE"),
		"image of the agent where no AddOnDeploymentConfig names one (default: $AGENT_IMAGE)")
	fs.StringVar(&o.namespace, "leader-election-namespace", os.Getenv("POD_NAMESPACE"),
		"namespace of the leader election's Lease (default: $POD_NAMESPACE)")
	fs.BoolVar(&o.leaderElection, "leader-elect", true, "wait to be the leader; several managers must never run at once")
	fs.StringVar(&o.metricsAddress, "metrics-bind-address", ":8080", "address of /metrics; 0 turns it off")
	fs.StringVar(&o.probeAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz")
	fs.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	return cmd
}

func (o *managerOptions) run(ctx context.Context) error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.logLevel)); err != nil {
		return fmt.Errorf("--log-level %q: want debug, info, warn or error", o.logLevel)
	}
	log := logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	if err := o.hub.Validate(); err != nil {
		return err
	}
	if o.leaderElection && o.namespace == "" {
		return errors.New("--leader-election-namespace: set it, or POD_NAMESPACE")
	}
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the hub: %w", err)
	}
	mgr, err := o.newManager(cfg)
	if err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("run the manager: %w", err)
	}
	return nil
}

func (o *managerOptions) newManager(cfg *rest.Config) (ctrl.Manager, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS, cfg.Burst = o.hub.QPS, o.hub.Burst
	scheme, err := hub.NewScheme()
	if err != nil {
		return nil, err
	}
	cacheOptions, err := hub.CacheOptions(cfg)
	if err != nil {
		return nil, err
	}
	timeout := stopTimeout
	mgr, err := ctrl.NewManager(cfg, manager.Options{
		Scheme:                        scheme,
		Cache:                         cacheOptions,
		LeaderElection:                o.leaderElection,
		LeaderElectionID:              addon.LeaseName,
		LeaderElectionNamespace:       o.namespace,
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       &timeout,
		HealthProbeBindAddress:        o.probeAddress,
		Metrics:                       metricsserver.Options{BindAddress: o.metricsAddress},
	})
	if err != nil {
		return nil, fmt.Errorf("build the manager: %w", err)
	}
	if err := hub.SetupWithManager(mgr, o.hub); err != nil {
		return nil, err
	}
	framework, err := addon.New(cfg, addon.Options{AgentImage: o.agentImage, QPS: o.hub.QPS, Burst: o.hub.Burst})
	if err != nil {
		return nil, err
	}
	if err := mgr.Add(framework); err != nil {
		return nil, fmt.Errorf("add the add-on framework: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	return mgr, mgr.AddReadyzCheck("caches", hub.Ready(mgr.GetCache()))
}
