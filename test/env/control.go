package env

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"open-cluster-management.io/fleet-addon/test/env/internal/process"
)

// Status is the description together with what changes: processes, pods and faults.
type Status struct {
	Description
	// Healthy is true if all that should run runs and all API servers that should answer do.
	Healthy   bool                 `json:"healthy"`
	Problems  []string             `json:"problems,omitempty"`
	Binary    string               `json:"binary,omitempty"`
	Processes []process.UnitStatus `json:"processes"`
	Pods      []PodStatus          `json:"pods"`
	// Faults are the simulated faults in force, by cluster.
	Faults map[string][]string `json:"faults,omitempty"`
}

// PodStatus is a pod that runs, or should, as a process.
type PodStatus struct {
	Cluster   string `json:"cluster"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Container string `json:"container"`
	// State is waiting, running or terminated; Reason says more.
	State    string `json:"state"`
	Reason   string `json:"reason,omitempty"`
	Ready    bool   `json:"ready"`
	PID      int    `json:"pid,omitempty"`
	Restarts int    `json:"restarts"`
	ExitCode *int   `json:"exitCode,omitempty"`
	// Held is true while `env fault stop-pod` keeps it down.
	Held           bool   `json:"held,omitempty"`
	MetricsAddress string `json:"metricsAddress,omitempty"`
	ProbeAddress   string `json:"probeAddress,omitempty"`
	Log            string `json:"log"`
	Dir            string `json:"dir"`
	Kubeconfig     string `json:"kubeconfig"`
}

// Request is one order to the supervisor.
type Request struct {
	Action  string `json:"action"`
	Cluster string `json:"cluster,omitempty"`
	// Path is the binary of set-binary.
	Path string `json:"path,omitempty"`
	// Namespace and Selector pick pods.
	Namespace string `json:"namespace,omitempty"`
	Selector  string `json:"selector,omitempty"`
	// Addon includes the add-on's own agent with stop-agents.
	Addon bool `json:"addon,omitempty"`
	// Hold keeps a killed pod down.
	Hold bool `json:"hold,omitempty"`
}

// Actions of a Request.
const (
	ActionDown           = "down"
	ActionRepair         = "repair"
	ActionSetBinary      = "set-binary"
	ActionStopAgents     = "stop-agents"
	ActionStartAgents    = "start-agents"
	ActionStopAPIServer  = "stop-apiserver"
	ActionStartAPIServer = "start-apiserver"
	ActionNeverReady     = "never-ready"
	ActionReadyAgain     = "ready-again"
	ActionKillPod        = "kill-pod"
	ActionStopPod        = "stop-pod"
	ActionStartPod       = "start-pod"
	ActionRejoin         = "rejoin"
)

// ErrNotRunning says that no supervisor answers.
var ErrNotRunning = errors.New("the environment is not running, start it with `env up`")

func controlClient(dir string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", Socket(dir))
		},
	}}
}

// GetStatus asks the supervisor.
func GetStatus(ctx context.Context, dir string) (Status, error) {
	var s Status
	return s, call(ctx, dir, http.MethodGet, "/status", nil, &s)
}

// Do gives an order to the supervisor and returns when it is carried out.
func Do(ctx context.Context, dir string, order Request) error {
	return call(ctx, dir, http.MethodPost, "/do", order, nil)
}

func call(ctx context.Context, dir, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://supervisor"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := controlClient(dir).Do(request)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%s: %w", dir, ErrNotRunning)
	}
	if err != nil {
		return fmt.Errorf("ask the supervisor of %s: %w", dir, err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("ask the supervisor of %s: %w", dir, err)
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(strings.TrimSpace(string(data)))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(data, out)
}
