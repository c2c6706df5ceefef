package env

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"open-cluster-management.io/fleet-addon/test/env/internal/toolchain"
)

// DefaultName is the environment that commands mean if none is named.
const DefaultName = "default"

// Options say what Up starts. What is zero is the default for an environment that starts, and as it is for one that runs.
type Options struct {
	Name string `json:"name"`
	// Dir is the state directory; empty means the one of Name in the cache.
	Dir        string        `json:"dir"`
	Clusters   []ClusterSpec `json:"clusters"`
	ClusterSet string        `json:"clusterSet"`
	// Lease is the ManagedClusters' lease duration.
	Lease time.Duration `json:"lease"`
	// Binary runs as the pods of the fleet-addon image; empty means that they wait for one.
	Binary string `json:"binary,omitempty"`
	// Timeout is the limit for the start, without building.
	Timeout time.Duration `json:"timeout"`
}

// withDefaults fills in what is zero.
func (o Options) withDefaults() Options {
	if len(o.Clusters) == 0 {
		o.Clusters = DefaultClusters()
	}
	o.ClusterSet = cmp.Or(o.ClusterSet, "fleet")
	o.Lease = cmp.Or(o.Lease, time.Minute)
	o.Timeout = cmp.Or(o.Timeout, 5*time.Minute)
	return o
}

// differs tells whether something is asked for that is not so in an environment that runs.
func (o Options) differs(running Options) bool {
	return len(o.Clusters) > 0 && !reflect.DeepEqual(o.Clusters, running.Clusters) ||
		o.ClusterSet != "" && o.ClusterSet != running.ClusterSet || o.Lease != 0 && o.Lease != running.Lease
}

// maxSocketPath is what Linux takes as the path of a unix socket.
const maxSocketPath = 107

// StateDir is the state directory of a named environment, or dir itself if there is one given.
func StateDir(name, dir string) (string, error) {
	if dir == "" {
		root, err := toolchain.Root()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(root, "run", name)
	}
	return filepath.Abs(dir)
}

// Socket is the supervisor's socket: in the state directory, or where that has too long a path for a socket, in the
// folder for temporary files under a name made of the path.
func Socket(dir string) string {
	path := filepath.Join(dir, "control.sock")
	if len(path) <= maxSocketPath {
		return path
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(os.TempDir(), "fleet-env-"+hex.EncodeToString(sum[:8])+".sock")
}

// LockFile is locked as long as somebody starts or supervises the environment.
func LockFile(dir string) string { return filepath.Join(dir, "env.lock") }

// SupervisorLog is where the supervisor writes what happens.
func SupervisorLog(dir string) string { return filepath.Join(dir, "logs", "supervisor.log") }

// Records is the folder with the records of running processes.
func Records(dir string) string { return filepath.Join(dir, "pids") }

func optionsFile(dir string) string { return filepath.Join(dir, "options.json") }

// LoadOptions reads the options that Up left for the supervisor.
func LoadOptions(dir string) (Options, error) {
	var o Options
	data, err := os.ReadFile(optionsFile(dir))
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	if err != nil {
		return o, fmt.Errorf("options of the environment in %s: %w", dir, err)
	}
	return o, nil
}

// Save writes the options into the state directory.
func (o Options) Save() error {
	data, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(optionsFile(o.Dir), data, 0o600)
}
