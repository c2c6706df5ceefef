package supervisor

import (
	"context"
	"fmt"
	"time"

	"open-cluster-management.io/fleet-addon/test/env/internal/ocm"
	"open-cluster-management.io/fleet-addon/test/env/internal/process"
)

// startManaged starts a managed cluster's control plane and, once the hub is ready, joins it.
func (s *Supervisor) startManaged(ctx context.Context, m *member, hubReady <-chan struct{}) error {
	if err := s.startPlane(ctx, m); err != nil {
		return err
	}
	m.ocmManaged = ocm.Managed{
		Plane: m.plane, Applier: m.applier, Clients: m.clients, Labels: m.spec.Labels,
		LeaseSeconds: int(s.options.Lease.Seconds()),
	}
	if err := m.ocmManaged.Install(ctx); err != nil {
		return fmt.Errorf("%s: %w", m.plane.Name, err)
	}
	s.out.step("%s: API server ready at %s", m.plane.Name, m.plane.Server())
	select {
	case <-hubReady:
	case <-ctx.Done():
		return ctx.Err()
	}
	m.ocmManaged.Hub = s.hub.ocmHub
	if err := m.ocmManaged.WriteKubeconfigs(ctx); err != nil {
		return err
	}
	registration, work := m.ocmManaged.Agents()
	m.agents = []*process.Unit{s.unit(registration, true), s.unit(work, true)}
	if err := s.join(ctx, m); err != nil {
		return fmt.Errorf("%s: %w", m.plane.Name, err)
	}
	s.out.step("%s: joined and available", m.plane.Name)
	return s.startNode(m)
}

// join registers the cluster with the hub and starts its agents.
func (s *Supervisor) join(ctx context.Context, m *member) error {
	if err := m.ocmManaged.Accept(ctx); err != nil {
		return err
	}
	if err := m.agents[0].Start(); err != nil {
		return err
	}
	if err := m.ocmManaged.ApproveCSRs(ctx, 2*time.Minute); err != nil {
		return err
	}
	if err := m.agents[1].Start(); err != nil {
		return err
	}
	return m.ocmManaged.WaitAvailable(ctx, 2*time.Minute)
}
