package controlplane

import (
	"fmt"
	"os"
	"path/filepath"

	"open-cluster-management.io/fleet-addon/test/env/internal/pki"
	"open-cluster-management.io/fleet-addon/test/env/internal/process"
	"open-cluster-management.io/fleet-addon/test/env/internal/toolchain"
)

// NodeName is the node of every managed cluster.
const NodeName = "node-0"

// Cluster is the control plane of the hub or of a managed cluster.
type Cluster struct {
	Name string
	// Index keeps the service networks of the clusters apart.
	Index int
	Hub   bool
	Dir   string
	Etcd  string // URL
	Ports map[string]int
	Tools toolchain.Tools
	PKI   pki.Bundle
}

// PortNames are the ports that a control plane needs, by the name they have in Cluster.Ports.
func PortNames(hub bool) []string {
	if hub {
		return []string{"api", "controller-manager"}
	}
	return []string{"api", "controller-manager", "scheduler", "kwok"}
}

// Server is the URL of the API server.
func (c Cluster) Server() string { return fmt.Sprintf("https://127.0.0.1:%d", c.Ports["api"]) }

// Kubeconfig is the administrator's kubeconfig.
func (c Cluster) Kubeconfig() string { return filepath.Join(c.Dir, "kubeconfig") }

// AuditLog is the API server's audit log: one JSON object a line, writes only, at level Metadata.
func (c Cluster) AuditLog() string { return filepath.Join(c.Dir, "audit.log") }

// Log is the log file of a component.
func (c Cluster) Log(component string) string {
	return filepath.Join(c.Dir, "logs", component+".log")
}

func (c Cluster) file(name string) string { return filepath.Join(c.Dir, name) }

// Prepare writes certificates, kubeconfig and configuration files.
func (c *Cluster) Prepare() error {
	bundle, err := pki.Ensure(c.file("pki"))
	if err != nil {
		return err
	}
	c.PKI = bundle
	if err := bundle.AdminKubeconfig(c.Kubeconfig(), c.Name, c.Server()); err != nil {
		return err
	}
	if err := os.WriteFile(c.file("audit-policy.yaml"), []byte(auditPolicy), 0o600); err != nil {
		return err
	}
	if c.Hub {
		return nil
	}
	return c.WriteStages(nil)
}

func (c Cluster) spec(component string, args ...string) process.Spec {
	return process.Spec{
		Name: c.Name + "/" + component, Path: c.Tools.Path(component), Args: args, Log: c.Log(component), Dir: c.Dir,
	}
}

// auditPolicy keeps what tests ask for, who wrote what, and drops reads and what only asks a question.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: None
  verbs: [get, list, watch]
- level: None
  resources:
  - {group: authorization.k8s.io}
  - {group: authentication.k8s.io, resources: [tokenreviews]}
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
`
