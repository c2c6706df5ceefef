package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	env "open-cluster-management.io/fleet-addon/test/env"
	"open-cluster-management.io/fleet-addon/test/env/internal/controlplane"
	"open-cluster-management.io/fleet-addon/test/env/internal/pods"
)

// faultGrace is how long a program that a fault stops may take to end.
const faultGrace = 3 * time.Second

const (
	faultAgents     = "agents stopped"
	faultAddonAgent = "add-on agent stopped"
	faultAPIServer  = "API server stopped"
	faultNeverReady = "pods never ready"
)

var errHubHasNone = errors.New("the hub has no such thing: name a managed cluster")

func (s *Supervisor) managedMember(name string) (*member, error) {
	m, err := s.member(name)
	if err == nil && m.plane.Hub {
		return nil, errHubHasNone
	}
	return m, err
}

// stopAgents stops the klusterlet's agents of a cluster, and the add-on's own if asked.
func (s *Supervisor) stopAgents(_ context.Context, order env.Request) error {
	m, err := s.managedMember(order.Cluster)
	if err != nil {
		return err
	}
	if order.Addon {
		m.node.Each("", labels.Everything(), (*pods.Container).Hold)
		s.setFault(m.plane.Name, faultAddonAgent, true)
	}
	for _, unit := range m.agents {
		unit.Stop(faultGrace)
	}
	s.setFault(m.plane.Name, faultAgents, true)
	return nil
}

func (s *Supervisor) startAgents(_ context.Context, order env.Request) error {
	m, err := s.managedMember(order.Cluster)
	if err != nil {
		return err
	}
	for _, unit := range m.agents {
		if err := unit.Start(); err != nil {
			return err
		}
	}
	m.node.Each("", labels.Everything(), (*pods.Container).Release)
	s.setFault(m.plane.Name, faultAgents, false)
	s.setFault(m.plane.Name, faultAddonAgent, false)
	return nil
}

func (s *Supervisor) stopAPIServer(_ context.Context, order env.Request) error {
	m, err := s.member(order.Cluster)
	if err != nil {
		return err
	}
	m.apiserver.Stop(faultGrace)
	s.setFault(m.plane.Name, faultAPIServer, true)
	return nil
}

// startAPIServer returns when the API server answers again.
func (s *Supervisor) startAPIServer(ctx context.Context, order env.Request) error {
	m, err := s.member(order.Cluster)
	if err != nil {
		return err
	}
	if err := m.apiserver.Start(); err != nil {
		return err
	}
	s.setFault(m.plane.Name, faultAPIServer, false)
	if err := m.waitAPI(ctx); err != nil {
		return err
	}
	// What gave up meanwhile.
	return s.repair(ctx, order)
}

// neverReady makes the selected pods of a cluster unready and keeps them so; kwok reads its stages at its start only.
func (s *Supervisor) neverReady(_ context.Context, order env.Request) error {
	m, err := s.managedMember(order.Cluster)
	if err != nil {
		return err
	}
	selection := controlplane.Selection{Namespace: order.Namespace, Selector: order.Selector}
	if err := s.restartKwok(m, append(m.neverReady, selection)); err != nil {
		return err
	}
	s.setFault(m.plane.Name, fmt.Sprintf("%s: %s %s", faultNeverReady, order.Namespace, order.Selector), true)
	return nil
}

// readyAgain ends all never-ready faults of a cluster.
func (s *Supervisor) readyAgain(_ context.Context, order env.Request) error {
	m, err := s.managedMember(order.Cluster)
	if err != nil {
		return err
	}
	for _, f := range m.neverReady {
		s.setFault(m.plane.Name, fmt.Sprintf("%s: %s %s", faultNeverReady, f.Namespace, f.Selector), false)
	}
	return s.restartKwok(m, nil)
}

func (s *Supervisor) restartKwok(m *member, faults []controlplane.Selection) error {
	if err := m.plane.WriteStages(faults); err != nil {
		return err
	}
	m.neverReady = faults
	m.kwok.Stop(faultGrace)
	return m.kwok.Start()
}

func (s *Supervisor) killPod(_ context.Context, order env.Request) error {
	return s.eachPod(order, func(c *pods.Container) { c.Kill(order.Hold) })
}

func (s *Supervisor) stopPod(_ context.Context, order env.Request) error {
	return s.eachPod(order, (*pods.Container).Hold)
}

func (s *Supervisor) startPod(_ context.Context, order env.Request) error {
	return s.eachPod(order, (*pods.Container).Release)
}

func (s *Supervisor) eachPod(order env.Request, act func(*pods.Container)) error {
	m, err := s.member(order.Cluster)
	if err != nil {
		return err
	}
	selector, err := labels.Parse(order.Selector)
	if err != nil {
		return fmt.Errorf("selector: %w", err)
	}
	if m.node.Each(order.Namespace, selector, act) == 0 {
		return fmt.Errorf("no pod of the fleet-addon image on %s matches: see `env status`", m.plane.Name)
	}
	return nil
}

// rejoin registers a cluster anew, whose ManagedCluster was deleted.
func (s *Supervisor) rejoin(ctx context.Context, order env.Request) error {
	m, err := s.managedMember(order.Cluster)
	if err != nil {
		return err
	}
	for _, unit := range m.agents {
		unit.Stop(faultGrace)
	}
	if err := m.ocmManaged.Forget(ctx); err != nil {
		return err
	}
	if err := m.ocmManaged.WriteKubeconfigs(ctx); err != nil {
		return err
	}
	s.setFault(m.plane.Name, faultAgents, false)
	return s.join(ctx, m)
}
