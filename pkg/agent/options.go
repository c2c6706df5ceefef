package agent

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
)

const (
	defaultWorkers        = 10
	defaultReportInterval = time.Minute
	defaultContentJitter  = 2 * time.Second
)

// Options of the agent.
type Options struct {
	// HubKubeconfig is the file of the add-on's registration on the hub. It may
	// appear later, and is read again when it changes.
	HubKubeconfig string
	// ClusterName is the name of the managed cluster on the hub.
	ClusterName string
	// Namespace is where the agent is installed and where its BundleDeployments,
	// their Secrets and its leases are.
	Namespace string
	// MetricsBindAddress and HealthProbeBindAddress are host:port; "0" is off.
	MetricsBindAddress     string
	HealthProbeBindAddress string
	// LogLevel is debug, info, warn or error.
	LogLevel string
	// Workers is how many bundles are worked on at once.
	Workers int
	// ReportInterval is the shortest time between two reports on the
	// ManagedClusterAddOn.
	ReportInterval time.Duration
	// ContentJitter is the longest random wait before content is fetched.
	ContentJitter time.Duration
	// Config of the managed cluster. Unset: in the cluster, or KUBECONFIG.
	Config *rest.Config
}

// NewOptions returns the defaults.
func NewOptions() Options {
	return Options{
		Namespace:              os.Getenv("POD_NAMESPACE"),
		MetricsBindAddress:     ":8080",
		HealthProbeBindAddress: ":8081",
		LogLevel:               "info",
		Workers:                defaultWorkers,
		ReportInterval:         defaultReportInterval,
		ContentJitter:          defaultContentJitter,
	}
}

// AddFlags binds the options to flags; their present values are the defaults.
func (o *Options) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&o.HubKubeconfig, "hub-kubeconfig", o.HubKubeconfig, "kubeconfig file for the hub, from the add-on's registration; read again when it changes")
	f.StringVar(&o.ClusterName, "cluster-name", o.ClusterName, "name of this managed cluster on the hub")
	f.StringVar(&o.Namespace, "namespace", o.Namespace, "namespace of the agent and of its BundleDeployments (default: $POD_NAMESPACE)")
	f.StringVar(&o.MetricsBindAddress, "metrics-bind-address", o.MetricsBindAddress, "address of /metrics; 0 is off")
	f.StringVar(&o.HealthProbeBindAddress, "health-probe-bind-address", o.HealthProbeBindAddress, "address of /healthz and /readyz; 0 is off")
	f.StringVar(&o.LogLevel, "log-level", o.LogLevel, "debug, info, warn or error")
	f.IntVar(&o.Workers, "workers", o.Workers, "bundles that are worked on at once")
	f.DurationVar(&o.ReportInterval, "report-interval", o.ReportInterval, "shortest time between two reports on the ManagedClusterAddOn")
	f.DurationVar(&o.ContentJitter, "content-jitter", o.ContentJitter, "longest random wait before content is fetched from the hub")
}

// Validate names the flags that are missing or wrong.
func (o *Options) Validate() error {
	var errs []error
	if o.HubKubeconfig == "" {
		errs = append(errs, errors.New("--hub-kubeconfig is required"))
	}
	if o.ClusterName == "" {
		errs = append(errs, errors.New("--cluster-name is required"))
	}
	if o.Namespace == "" {
		errs = append(errs, errors.New("--namespace or POD_NAMESPACE is required"))
	}
	if o.Workers < 1 {
		errs = append(errs, fmt.Errorf("--workers is %d, must be at least 1", o.Workers))
	}
	if o.ReportInterval < 0 || o.ContentJitter < 0 {
		errs = append(errs, errors.New("--report-interval and --content-jitter must not be negative"))
	}
	if _, err := o.level(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (o *Options) level() (slog.Level, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.LogLevel)); err != nil {
		return level, fmt.Errorf("--log-level is %q, use debug, info, warn or error", o.LogLevel)
	}
	return level, nil
}
