package hub

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"
)

// Options of the controllers. The zero value of a field is not its default: use
// NewOptions.
type Options struct {
	// SettleTime is how long consistent placement decisions have to agree on a
	// change before it counts.
	SettleTime time.Duration
	// RemovalGrace is how long a cluster has to be absent before its work is removed.
	RemovalGrace time.Duration
	// DrainTimeout is how long a deleted ManagedClusterAddOn is kept for the bundles
	// of its cluster to be uninstalled.
	DrainTimeout time.Duration
	// ContentGrace is how long a Content that nothing needs is kept.
	ContentGrace time.Duration
	// RevisionLimit is how many revisions of a bundle are kept, but for those in use.
	RevisionLimit int
	// QPS and Burst limit the requests to the API server.
	QPS   float32
	Burst int
	// Workers is the number of bundles that are reconciled at the same time.
	Workers int
	// Clock is replaced in tests.
	Clock clock.Clock
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{
		SettleTime:    10 * time.Second,
		RemovalGrace:  time.Minute,
		DrainTimeout:  5 * time.Minute,
		ContentGrace:  10 * time.Minute,
		RevisionLimit: 10,
		QPS:           200,
		Burst:         400,
		Workers:       10,
		Clock:         clock.RealClock{},
	}
}

// AddFlags adds a flag for each option.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.DurationVar(&o.SettleTime, "settle-time", o.SettleTime,
		"how long consistent placement decisions have to agree on a change before it counts")
	fs.DurationVar(&o.RemovalGrace, "removal-grace", o.RemovalGrace,
		"how long a cluster has to be absent before its bundle is removed from it")
	fs.DurationVar(&o.DrainTimeout, "drain-timeout", o.DrainTimeout,
		"how long a deleted ManagedClusterAddOn is kept for its cluster's bundles to be uninstalled")
	fs.DurationVar(&o.ContentGrace, "content-grace", o.ContentGrace,
		"how long a Content that no bundle and no cluster needs is kept")
	fs.IntVar(&o.RevisionLimit, "revision-history-limit", o.RevisionLimit,
		"revisions of each bundle that are kept to go back to; those in use are kept beyond it")
	fs.Float32Var(&o.QPS, "kube-api-qps", o.QPS, "requests per second to the API server")
	fs.IntVar(&o.Burst, "kube-api-burst", o.Burst, "requests to the API server in one burst")
	fs.IntVar(&o.Workers, "bundle-workers", o.Workers, "bundles that are reconciled at the same time")
}

// Validate returns what is wrong with the options, by flag.
func (o *Options) Validate() error {
	var errs []error
	for flag, value := range map[string]time.Duration{
		"settle-time": o.SettleTime, "removal-grace": o.RemovalGrace,
		"drain-timeout": o.DrainTimeout, "content-grace": o.ContentGrace,
	} {
		if value < 0 {
			errs = append(errs, fmt.Errorf("--%s %s: must not be negative", flag, value))
		}
	}
	if o.QPS <= 0 || o.Burst <= 0 {
		errs = append(errs, fmt.Errorf("--kube-api-qps %g and --kube-api-burst %d: must be positive", o.QPS, o.Burst))
	}
	if o.RevisionLimit < 0 {
		errs = append(errs, fmt.Errorf("--revision-history-limit %d: must not be negative", o.RevisionLimit))
	}
	if o.Workers <= 0 {
		errs = append(errs, fmt.Errorf("--bundle-workers %d: must be positive", o.Workers))
	}
	return errors.Join(errs...)
}
