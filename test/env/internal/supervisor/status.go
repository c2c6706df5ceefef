package supervisor

import (
	"context"
	"fmt"
	"slices"
	"time"

	env "open-cluster-management.io/fleet-addon/test/env"
	"open-cluster-management.io/fleet-addon/test/env/internal/process"
)

// healthTimeout is the limit for one API server's answer.
const healthTimeout = 3 * time.Second

func (s *Supervisor) status(ctx context.Context) env.Status {
	description, members, units := s.describe()
	binary, _ := s.binary.Get()
	status := env.Status{
		Description: description, Binary: binary, Faults: s.currentFaults(),
		Processes: []process.UnitStatus{}, Pods: []env.PodStatus{},
	}
	for _, unit := range units {
		u := unit.Status()
		status.Processes = append(status.Processes, u)
		if u.Wanted && !u.Running {
			status.Problems = append(status.Problems, fmt.Sprintf("%s does not run (%s), see %s", u.Name, u.LastExit, u.Log))
		}
	}
	if description.Phase == env.PhaseUp {
		status.Problems = append(status.Problems, s.checkAPIs(ctx, members)...)
	}
	for _, m := range members {
		s.mu.Lock()
		node := m.node
		s.mu.Unlock()
		if node != nil {
			status.Pods = append(status.Pods, node.Status()...)
		}
	}
	status.Healthy = description.Phase == env.PhaseUp && len(status.Problems) == 0
	return status
}

// checkAPIs asks all API servers that should answer, at once.
func (s *Supervisor) checkAPIs(ctx context.Context, members []*member) []string {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	answers := make(chan string, len(members))
	asked := 0
	for _, m := range members {
		if !m.apiserver.Status().Running {
			continue
		}
		asked++
		go func() {
			if ok, err := m.ready(ctx); !ok {
				answers <- fmt.Sprintf("%s: the API server is not ready: %v", m.plane.Name, err)
				return
			}
			answers <- ""
		}()
	}
	var problems []string
	for range asked {
		if problem := <-answers; problem != "" {
			problems = append(problems, problem)
		}
	}
	slices.Sort(problems)
	return problems
}

func (s *Supervisor) currentFaults() map[string][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string][]string{}
	for name, faults := range s.faults {
		if len(faults) > 0 {
			out[name] = slices.Clone(faults)
		}
	}
	return out
}

// setFault notes a fault, or that it is over.
func (s *Supervisor) setFault(cluster, fault string, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	faults := slices.DeleteFunc(s.faults[cluster], func(f string) bool { return f == fault })
	if on {
		faults = append(faults, fault)
	}
	s.faults[cluster] = faults
}
