package supervisor

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	env "open-cluster-management.io/fleet-addon/test/env"
	"open-cluster-management.io/fleet-addon/test/env/internal/controlplane"
	"open-cluster-management.io/fleet-addon/test/env/internal/manifest"
	"open-cluster-management.io/fleet-addon/test/env/internal/process"
	"open-cluster-management.io/fleet-addon/test/env/internal/toolchain"
)

// startAll brings the environment up. On an error the caller stops what was started.
func (s *Supervisor) startAll(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	// Up has built all, so this finds and does not build.
	if s.tools, err = toolchain.Ensure(ctx, io.Discard); err != nil {
		return err
	}
	if s.runner, err = process.NewRunner(env.Records(s.dir())); err != nil {
		return err
	}
	if err := s.lay(); err != nil {
		return err
	}
	if err := s.firstBinary(); err != nil {
		return err
	}
	s.setPhase(env.PhaseStarting)
	if err := s.startEtcd(ctx); err != nil {
		return err
	}
	s.out.step("etcd runs; starting the API servers of hub, %s", strings.Join(s.names(), ", "))
	group, groupCtx := errgroup.WithContext(ctx)
	hubReady := make(chan struct{})
	group.Go(func() error {
		if err := s.startHub(groupCtx); err != nil {
			return err
		}
		close(hubReady)
		return nil
	})
	for _, m := range s.managed {
		group.Go(func() error { return s.startManaged(groupCtx, m, hubReady) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	s.setPhase(env.PhaseUp)
	s.out.step("environment %s is up: hub, %s; state in %s", s.options.Name, strings.Join(s.names(), ", "), s.dir())
	return nil
}

// lay decides ports, makes folders, certificates and kubeconfigs, and fills the description. Ports of an earlier run on
// the same data stay: kubeconfigs inside the clusters have them.
func (s *Supervisor) lay() error {
	earlier, err := env.Load(s.dir())
	if err != nil {
		earlier = env.Description{}
	}
	etcdPorts, err := s.assign(earlier.EtcdPort, []string{"client", "peer"})
	if err != nil {
		return err
	}
	d := env.Description{
		Name: s.options.Name, Dir: s.dir(), Phase: env.PhaseStarting, Socket: env.Socket(s.dir()), SupervisorPID: pid(),
		StartedAt: time.Now().UTC().Truncate(time.Second), ClusterSet: s.options.ClusterSet,
		LeaseDurationSeconds: int(s.options.Lease.Seconds()), Kubectl: s.tools.Path("kubectl"), EtcdPort: etcdPorts,
	}
	hub, err := s.newMember(0, env.ClusterSpec{Name: env.HubName}, earlier, etcdPorts["client"])
	if err != nil {
		return err
	}
	d.Hub = hub.describe()
	var managed []*member
	for i, spec := range s.options.Clusters {
		m, err := s.newMember(i+1, spec, earlier, etcdPorts["client"])
		if err != nil {
			return err
		}
		managed = append(managed, m)
		d.Clusters = append(d.Clusters, m.describe())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.description, s.hub, s.managed = d, hub, managed
	return nil
}

func (s *Supervisor) assign(earlier map[string]int, names []string) (map[string]int, error) {
	assigned := map[string]int{}
	for _, name := range names {
		if port, ok := earlier[name]; ok {
			if err := s.ports.Keep(port); err != nil {
				return nil, err
			}
			assigned[name] = port
			continue
		}
		port, err := s.ports.Next()
		if err != nil {
			return nil, err
		}
		assigned[name] = port
	}
	return assigned, nil
}

func (s *Supervisor) startEtcd(ctx context.Context) error {
	etcdPorts := s.description.EtcdPort
	if err := os.MkdirAll(filepath.Join(s.dir(), "etcd"), 0o700); err != nil {
		return err
	}
	unit := s.unit(controlplane.Etcd(s.tools, s.dir(), etcdPorts["client"], etcdPorts["peer"]), false)
	if err := unit.Start(); err != nil {
		return err
	}
	url := controlplane.EtcdURL(etcdPorts["client"]) + "/health"
	return waitServing(ctx, unit, "etcd", 30*time.Second, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return false, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false, err
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK, nil
	})
}

// waitServing waits until check is true and gives up at once if the program ends.
func waitServing(ctx context.Context, unit *process.Unit, what string, limit time.Duration, check func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-unit.Exited():
			cancel(fmt.Errorf("%s ended during its start, see %s", what, unit.Log()))
		case <-ctx.Done():
		}
	}()
	err := manifest.Poll(ctx, what+" to serve, see "+unit.Log(), limit, check)
	if err != nil && context.Cause(ctx) != nil {
		return context.Cause(ctx)
	}
	return err
}

func (s *Supervisor) names() []string {
	var names []string
	for _, spec := range s.options.Clusters {
		names = append(names, spec.Name)
	}
	return names
}
