package bundle

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
)

// Labels of the metrics.
const (
	labelNamespace = "namespace"
	labelBundle    = "bundle"
	labelLane      = "lane"
	labelGroup     = "group"
	labelState     = "state"
	labelReason    = "reason"
)

const (
	// maxMetricGroups is how many groups of a bundle have series of their own.
	maxMetricGroups = 50
	// otherGroups has the sum of all others, noGroup the clusters in no lane.
	otherGroups = "other"
	noGroup     = "(none)"
)

var (
	clustersDesc = prometheus.NewDesc("fleet_addon_rollout_clusters",
		"Clusters of a rollout by lane, group and state. A state without clusters has no series; groups after the first 50 of a bundle are summed in the group other.",
		[]string{labelNamespace, labelBundle, labelLane, labelGroup, labelState}, nil)
	heldDesc = prometheus.NewDesc("fleet_addon_rollout_held_seconds",
		"Seconds that a rollout was not complete, by the reason that it showed meanwhile, since the manager started. It only grows.",
		[]string{labelNamespace, labelBundle, labelReason}, nil)
	oldestDesc = prometheus.NewDesc("fleet_addon_rollout_oldest_unsettled_seconds",
		"Age of the state of the cluster that has been unsettled for longest; 0 when all are settled.",
		[]string{labelNamespace, labelBundle}, nil)
	breachesDesc = prometheus.NewDesc("fleet_addon_rollout_breaches_total",
		"How often a group came to have more failures than it tolerates, since the manager started.",
		[]string{labelNamespace, labelBundle, labelLane, labelGroup}, nil)
	planOpts = prometheus.HistogramOpts{
		Name:    "fleet_addon_plan_duration_seconds",
		Help:    "How long one plan of one bundle took, without what it reads and writes.",
		Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9),
	}
)

// Metrics are what Prometheus can ask about the bundles. Ages and seconds are computed
// when it asks: between two plans of a rollout that is held nothing else would.
type Metrics struct {
	clock   clock.PassiveClock
	tallies tallies
	plans   prometheus.Histogram
}

// NewMetrics returns metrics without a bundle.
func NewMetrics(clock clock.PassiveClock) *Metrics {
	return &Metrics{clock: clock, plans: prometheus.NewHistogram(planOpts)}
}

// planned notes how long a plan took.
func (m *Metrics) planned(took time.Duration) { m.plans.Observe(took.Seconds()) }

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{clustersDesc, heldDesc, oldestDesc, breachesDesc} {
		out <- d
	}
	m.plans.Describe(out)
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	m.plans.Collect(out)
	now := m.clock.Now()
	m.tallies.each(func(namespace, bundle string, t *tally) {
		for key, n := range t.clusters {
			out <- prometheus.MustNewConstMetric(clustersDesc, prometheus.GaugeValue, float64(n),
				namespace, bundle, key.lane, key.group, string(key.state))
		}
		for reason, held := range t.heldAt(now) {
			out <- prometheus.MustNewConstMetric(heldDesc, prometheus.CounterValue, held.Seconds(), namespace, bundle, string(reason))
		}
		out <- prometheus.MustNewConstMetric(oldestDesc, prometheus.GaugeValue, t.oldestAt(now).Seconds(), namespace, bundle)
		for key, n := range t.breaches {
			out <- prometheus.MustNewConstMetric(breachesDesc, prometheus.CounterValue, float64(n), namespace, bundle, key.lane, key.group)
		}
	})
}
