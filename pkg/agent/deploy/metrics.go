package deploy

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"open-cluster-management.io/fleet-addon/pkg/agent/release"
)

// actions has one series for each action and result, whatever the bundles.
var actions = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "fleet_agent_release_actions_total",
	Help: "Actions that were taken on Helm releases, by action and result (ok, failed).",
}, []string{"action", "result"})

func init() { metrics.Registry.MustRegister(actions) }

func countAction(action release.Action, failed bool) {
	result := "ok"
	if failed {
		result = "failed"
	}
	actions.WithLabelValues(string(action), result).Inc()
}
