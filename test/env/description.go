package env

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// HubName is the name of the hub wherever clusters are named.
const HubName = "hub"

// Phases of an environment.
const (
	PhaseStarting = "starting"
	PhaseUp       = "up"
	PhaseFailed   = "failed"
	PhaseStopped  = "stopped"
)

// Description is what DIR/env.json holds: all that stays as it is while an environment runs.
type Description struct {
	Name  string `json:"name"`
	Dir   string `json:"dir"`
	Phase string `json:"phase"`
	// Socket is where the supervisor listens.
	Socket        string    `json:"socket"`
	SupervisorPID int       `json:"supervisorPID"`
	StartedAt     time.Time `json:"startedAt"`
	ClusterSet    string    `json:"clusterSet"`
	// LeaseDurationSeconds is that of the ManagedClusters; the hub calls one unreachable after five times that.
	LeaseDurationSeconds int       `json:"leaseDurationSeconds"`
	Hub                  Cluster   `json:"hub"`
	Clusters             []Cluster `json:"clusters"`
	// Kubectl is a kubectl of the clusters' version.
	Kubectl  string         `json:"kubectl"`
	EtcdPort map[string]int `json:"etcdPorts"`
}

// Cluster is the hub or a managed cluster.
type Cluster struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels,omitempty"`
	Server string            `json:"server"`
	// Kubeconfig is an administrator's.
	Kubeconfig string `json:"kubeconfig"`
	// AuditLog has one JSON object (audit.k8s.io/v1 Event, level Metadata) per write and line.
	AuditLog string         `json:"auditLog"`
	Logs     string         `json:"logs"`
	Ports    map[string]int `json:"ports"`
}

// ErrNotFound says that there is no environment in the folder.
var ErrNotFound = errors.New("no environment there, start one with `env up`")

func descriptionFile(dir string) string { return filepath.Join(dir, "env.json") }

// Load reads the description of the environment in dir.
func Load(dir string) (Description, error) {
	var d Description
	data, err := os.ReadFile(descriptionFile(dir))
	if errors.Is(err, os.ErrNotExist) {
		return d, fmt.Errorf("%s: %w", dir, ErrNotFound)
	}
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return d, fmt.Errorf("%s is broken, `env down` removes it: %w", descriptionFile(dir), err)
	}
	return d, nil
}

// Save writes the description.
func (d Description) Save() error {
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	temp := descriptionFile(d.Dir) + ".tmp"
	if err := os.WriteFile(temp, append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, descriptionFile(d.Dir))
}

// Cluster finds the hub or a managed cluster by name.
func (d Description) Cluster(name string) (Cluster, error) {
	for _, c := range append([]Cluster{d.Hub}, d.Clusters...) {
		if c.Name == name {
			return c, nil
		}
	}
	return Cluster{}, fmt.Errorf("no cluster %q in environment %s", name, d.Name)
}
