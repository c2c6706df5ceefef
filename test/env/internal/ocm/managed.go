package ocm

import (
	"context"
	_ "embed"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"open-cluster-management.io/fleet-addon/test/env/internal/controlplane"
	"open-cluster-management.io/fleet-addon/test/env/internal/manifest"
	"open-cluster-management.io/fleet-addon/test/env/internal/pki"
	"open-cluster-management.io/fleet-addon/test/env/internal/process"
)

const (
	agentNamespace = "open-cluster-management-agent"
	klusterlet     = "klusterlet"
	// tokenLifetime is that of the agents' tokens on their own cluster: longer than any environment lives.
	tokenLifetime = 30 * 24 * 3600
)

//go:embed managed.yaml
var managedObjects string

var managedClusterKind = schema.GroupVersionKind{Group: "cluster.open-cluster-management.io", Version: "v1", Kind: "ManagedCluster"}

// ManagedPortNames are the ports that a managed cluster needs beside those of its control plane.
func ManagedPortNames() []string { return []string{"registration-agent", "work-agent"} }

// Managed is one managed cluster.
type Managed struct {
	Plane   controlplane.Cluster
	Applier *manifest.Applier
	Clients kubernetes.Interface
	Labels  map[string]string
	Hub     Hub
	// LeaseSeconds is how often the registration agent renews its lease; unreachable is five times that.
	LeaseSeconds int
}

func encode(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// Install applies what the klusterlet operator applies on a managed cluster: CRDs, namespaces, ServiceAccounts, roles.
func (m Managed) Install(ctx context.Context) error {
	objects, err := manifest.Render("managed.yaml", managedObjects, map[string]string{"Node": controlplane.NodeName})
	if err != nil {
		return err
	}
	if err := m.Applier.Apply(ctx, objects...); err != nil {
		return err
	}
	var crds, rest []string
	for _, pattern := range []string{"managed/*.yaml", "management/*role*.yaml"} {
		files, err := filepath.Glob(filepath.Join(m.Plane.Tools.Manifests, pattern))
		if err != nil {
			return err
		}
		for _, file := range files {
			if strings.HasSuffix(file, ".crd.yaml") {
				crds = append(crds, file)
			} else {
				rest = append(rest, file)
			}
		}
	}
	keep := func(*unstructured.Unstructured) error { return nil }
	if err := installCRDs(ctx, m.Applier, crds, klusterletData(), keep); err != nil {
		return err
	}
	for _, file := range rest {
		objects, err := manifest.RenderFile(file, klusterletData())
		if err != nil {
			return err
		}
		if err := m.Applier.Apply(ctx, objects...); err != nil {
			return err
		}
	}
	return nil
}

// klusterletData is what the operator fills into the klusterlet's manifests.
func klusterletData() map[string]any {
	return map[string]any{
		"KlusterletName": klusterlet, "KlusterletNamespace": agentNamespace, "AgentNamespace": agentNamespace,
		"Labels": map[string]string{}, "RegistrationServiceAccount": "klusterlet-registration-sa",
		"WorkServiceAccount": "klusterlet-work-sa", "ManagedClusterRoleArn": "",
		"RegistrationDriver": map[string]string{"AuthType": "csr"},
	}
}

func (m Managed) path(name string) string { return filepath.Join(m.Plane.Dir, name) }

func (m Managed) hubDir() string { return m.path("hub-kubeconfig") }

// WriteKubeconfigs writes the agents' kubeconfigs: their ServiceAccounts on their own cluster, and the bootstrap
// identity on the hub.
func (m Managed) WriteKubeconfigs(ctx context.Context) error {
	for account, file := range map[string]string{
		"klusterlet-registration-sa": "registration.kubeconfig", "klusterlet-work-sa": "work.kubeconfig",
	} {
		if err := writeTokenKubeconfig(ctx, m.Clients, m.Plane, agentNamespace, account, m.path(file)); err != nil {
			return err
		}
	}
	return writeTokenKubeconfig(ctx, m.Hub.Clients, m.Hub.Plane, "open-cluster-management", "agent-registration-bootstrap",
		m.path("bootstrap.kubeconfig"))
}

func writeTokenKubeconfig(ctx context.Context, clients kubernetes.Interface, plane controlplane.Cluster, namespace, account, path string) error {
	seconds := int64(tokenLifetime)
	token, err := clients.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("token of ServiceAccount %s/%s on %s: %w", namespace, account, plane.Name, err)
	}
	ca, err := plane.PKI.CAData()
	if err != nil {
		return err
	}
	return pki.WriteKubeconfig(path, plane.Name, plane.Server(), ca,
		pki.User{Name: account, Token: token.Status.Token, Namespace: namespace})
}

// Agents are the registration and the work agent; the second may start once Joined says so.
func (m Managed) Agents() (registration, work process.Spec) {
	agent := func(name, program, kubeconfig string, more ...string) process.Spec {
		args := append([]string{
			"agent", "--kubeconfig=" + m.path(kubeconfig), "--namespace=" + agentNamespace, "--disable-leader-election",
			"--spoke-cluster-name=" + m.Plane.Name, "--agent-id=" + m.Plane.Name + "-agent", "--hub-kubeconfig-dir=" + m.hubDir(),
			fmt.Sprintf("--listen=127.0.0.1:%d", m.Plane.Ports[name]),
		}, more...)
		return process.Spec{
			Name: m.Plane.Name + "/" + name, Path: m.Plane.Tools.Path(program), Args: args, Log: m.Plane.Log(name), Dir: m.Plane.Dir,
			Env: append(os.Environ(), "POD_NAME="+name, "POD_NAMESPACE="+agentNamespace),
		}
	}
	registration = agent("registration-agent", "registration", "registration.kubeconfig",
		"--bootstrap-kubeconfig="+m.path("bootstrap.kubeconfig"),
		// As quick as the lease, so that an API server that went or came back is seen soon.
		fmt.Sprintf("--cluster-healthcheck-period=%ds", m.LeaseSeconds))
	work = agent("work-agent", "work", "work.kubeconfig", "--workload-source-driver=kube",
		"--workload-source-config="+filepath.Join(m.hubDir(), "kubeconfig"), "--status-sync-interval=5s")
	return registration, work
}
