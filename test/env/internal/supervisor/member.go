package supervisor

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	env "open-cluster-management.io/fleet-addon/test/env"
	"open-cluster-management.io/fleet-addon/test/env/internal/controlplane"
	"open-cluster-management.io/fleet-addon/test/env/internal/manifest"
	"open-cluster-management.io/fleet-addon/test/env/internal/ocm"
	"open-cluster-management.io/fleet-addon/test/env/internal/pods"
	"open-cluster-management.io/fleet-addon/test/env/internal/process"
)

// member is the hub or a managed cluster, with all that runs for it.
type member struct {
	spec    env.ClusterSpec
	plane   controlplane.Cluster
	config  *rest.Config
	clients kubernetes.Interface
	applier *manifest.Applier
	node    *pods.Node

	apiserver *process.Unit
	// others are the control plane's other programs; agents those of OCM: its hub controllers, or registration and work.
	others []*process.Unit
	kwok   *process.Unit
	agents []*process.Unit

	ocmHub     ocm.Hub
	ocmManaged ocm.Managed
	neverReady []controlplane.Selection
}

func (s *Supervisor) newMember(index int, spec env.ClusterSpec, earlier env.Description, etcd int) (*member, error) {
	hub := spec.Name == env.HubName
	dir := filepath.Join(s.dir(), "clusters", spec.Name)
	names := append(controlplane.PortNames(hub), ocm.ManagedPortNames()...)
	if hub {
		dir = filepath.Join(s.dir(), env.HubName)
		names = append(controlplane.PortNames(hub), ocm.HubPortNames()...)
	}
	before, _ := earlier.Cluster(spec.Name) // none is fine
	assigned, err := s.assign(before.Ports, names)
	if err != nil {
		return nil, err
	}
	m := &member{spec: spec, plane: controlplane.Cluster{
		Name: spec.Name, Index: index, Hub: hub, Dir: dir, Etcd: controlplane.EtcdURL(etcd), Ports: assigned, Tools: s.tools,
	}}
	if err := m.plane.Prepare(); err != nil {
		return nil, fmt.Errorf("prepare %s: %w", spec.Name, err)
	}
	if m.config, err = clientcmd.BuildConfigFromFlags("", m.plane.Kubeconfig()); err != nil {
		return nil, err
	}
	m.config.QPS, m.config.Burst = 200, 400
	if m.clients, err = kubernetes.NewForConfig(m.config); err != nil {
		return nil, err
	}
	m.applier, err = manifest.NewApplier(m.config)
	return m, err
}

func (m *member) describe() env.Cluster {
	return env.Cluster{
		Name: m.spec.Name, Labels: m.spec.Labels, Server: m.plane.Server(), Kubeconfig: m.plane.Kubeconfig(),
		AuditLog: m.plane.AuditLog(), Logs: filepath.Dir(m.plane.Log("x")), Ports: m.plane.Ports,
	}
}

// ready asks the API server's readyz.
func (m *member) ready(ctx context.Context) (bool, error) {
	err := m.clients.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	return err == nil, err
}

// startPlane starts the API server, waits for it, and starts the rest of the control plane.
func (s *Supervisor) startPlane(ctx context.Context, m *member) error {
	m.apiserver = s.unit(m.plane.APIServer(), false)
	if err := m.apiserver.Start(); err != nil {
		return err
	}
	if err := m.waitAPI(ctx); err != nil {
		return err
	}
	specs := []process.Spec{m.plane.ControllerManager()}
	if !m.plane.Hub {
		specs = append(specs, m.plane.Scheduler())
	}
	for _, spec := range specs {
		m.others = append(m.others, s.unit(spec, false))
	}
	for _, unit := range m.others {
		if err := unit.Start(); err != nil {
			return err
		}
	}
	if m.plane.Hub {
		return nil
	}
	m.kwok = s.unit(m.plane.Kwok(), false)
	return m.kwok.Start()
}

func (m *member) waitAPI(ctx context.Context) error {
	return waitServing(ctx, m.apiserver, "the API server of "+m.plane.Name, 90*time.Second, m.ready)
}

func (s *Supervisor) startNode(m *member) error {
	ca, err := m.plane.PKI.CAData()
	if err != nil {
		return err
	}
	node := pods.NewNode(pods.Options{
		Cluster: m.plane.Name, Clients: m.clients, Server: m.plane.Server(), CA: ca,
		Dir: filepath.Join(s.dir(), "pods", m.plane.Name), Logs: filepath.Join(s.dir(), "logs", "pods", m.plane.Name),
		Runner: s.runner, Ports: s.ports, Binary: s.binary, Bind: m.plane.Hub, Logf: s.out.logf,
	})
	s.mu.Lock()
	m.node = node
	s.mu.Unlock()
	node.Start()
	return nil
}
