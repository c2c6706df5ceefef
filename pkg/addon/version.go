package addon

import (
	"fmt"

	"helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/manifests"
)

// Version is the version of the agent that this binary deploys: the appVersion of
// the embedded chart. The hub chart has the same.
func Version() (string, error) {
	raw, err := manifests.Agent.ReadFile(manifests.AgentChart + "/Chart.yaml")
	if err != nil {
		return "", fmt.Errorf("read the agent's chart: %w", err)
	}
	var meta chart.Metadata
	if err := yaml.Unmarshal(raw, &meta); err != nil {
		return "", fmt.Errorf("read the agent's chart: %w", err)
	}
	return meta.AppVersion, nil
}
