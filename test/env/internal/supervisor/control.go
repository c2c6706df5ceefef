package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	env "open-cluster-management.io/fleet-addon/test/env"
)

// serve opens the control socket: GET /status, and POST /do with an env.Request.
func (s *Supervisor) serve() (*http.Server, error) {
	path := env.Socket(s.dir())
	// The lock is ours, so a socket that is there has no listener.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("open the control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.status(r.Context()))
	})
	mux.HandleFunc("POST /do", func(w http.ResponseWriter, r *http.Request) {
		var order env.Request
		err := json.NewDecoder(r.Body).Decode(&order)
		if err == nil {
			err = s.do(r.Context(), order)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		}
	})
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(listener) }() // ends with Close
	return server, nil
}

// do carries out one order.
func (s *Supervisor) do(ctx context.Context, order env.Request) error {
	s.out.logf("order: %+v", order)
	if order.Action == env.ActionDown {
		s.stop(errDown)
		<-s.stopped
		return nil
	}
	s.orders.Lock()
	defer s.orders.Unlock()
	if d, _, _ := s.describe(); d.Phase != env.PhaseUp {
		return fmt.Errorf("environment %s is %s: wait until `env status` says that it is up", s.options.Name, d.Phase)
	}
	act, known := actions()[order.Action]
	if !known {
		return fmt.Errorf("unknown action %q", order.Action)
	}
	return act(s, ctx, order)
}

// actions carries out each order but the last one, down.
func actions() map[string]func(*Supervisor, context.Context, env.Request) error {
	return map[string]func(*Supervisor, context.Context, env.Request) error{
		env.ActionRepair:         (*Supervisor).repair,
		env.ActionSetBinary:      (*Supervisor).setBinary,
		env.ActionStopAgents:     (*Supervisor).stopAgents,
		env.ActionStartAgents:    (*Supervisor).startAgents,
		env.ActionStopAPIServer:  (*Supervisor).stopAPIServer,
		env.ActionStartAPIServer: (*Supervisor).startAPIServer,
		env.ActionNeverReady:     (*Supervisor).neverReady,
		env.ActionReadyAgain:     (*Supervisor).readyAgain,
		env.ActionKillPod:        (*Supervisor).killPod,
		env.ActionStopPod:        (*Supervisor).stopPod,
		env.ActionStartPod:       (*Supervisor).startPod,
		env.ActionRejoin:         (*Supervisor).rejoin,
	}
}

// repair starts again what ended by itself; what a fault stopped stays down.
func (s *Supervisor) repair(ctx context.Context, _ env.Request) error {
	_, members, units := s.describe()
	for _, unit := range units {
		if status := unit.Status(); status.Wanted && !status.Running {
			s.out.logf("repair: starting %s", status.Name)
			if err := unit.Start(); err != nil {
				return err
			}
		}
	}
	for _, m := range members {
		if !m.apiserver.Status().Wanted {
			continue
		}
		if err := m.waitAPI(ctx); err != nil {
			return err
		}
	}
	return nil
}

// shutDown lets the answer to the last order out.
func shutDown(server *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = server.Shutdown(ctx)
}
