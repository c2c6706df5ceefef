package supervisor

import (
	"context"
	"crypto/tls"
	"net"
	"strconv"
	"time"

	"open-cluster-management.io/fleet-addon/test/env/internal/ocm"
)

// startHub starts the hub's control plane and the hub side of OCM.
func (s *Supervisor) startHub(ctx context.Context) error {
	m := s.hub
	m.ocmHub = ocm.Hub{Plane: m.plane, Applier: m.applier, Clients: m.clients, ClusterSet: s.options.ClusterSet}
	if err := s.startPlane(ctx, m); err != nil {
		return err
	}
	s.out.step("hub: API server ready at %s", m.plane.Server())
	webhooks := s.unit(m.ocmHub.Webhooks(), true)
	m.agents = append(m.agents, webhooks)
	if err := webhooks.Start(); err != nil {
		return err
	}
	if err := m.ocmHub.InstallCRDs(ctx); err != nil {
		return err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(m.plane.Ports["webhooks"]))
	if err := waitServing(ctx, webhooks, "hub/webhooks", time.Minute, dialTLS(address)); err != nil {
		return err
	}
	if err := m.ocmHub.InstallWebhooks(ctx); err != nil {
		return err
	}
	if err := m.ocmHub.InstallObjects(ctx); err != nil {
		return err
	}
	for _, spec := range m.ocmHub.Controllers() {
		unit := s.unit(spec, true)
		m.agents = append(m.agents, unit)
		if err := unit.Start(); err != nil {
			return err
		}
	}
	s.out.step("hub: Open Cluster Management runs")
	return s.startNode(m)
}

func dialTLS(address string) func(context.Context) (bool, error) {
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} // is something there: nothing is sent
	return func(ctx context.Context) (bool, error) {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return false, err
		}
		return true, conn.Close()
	}
}
