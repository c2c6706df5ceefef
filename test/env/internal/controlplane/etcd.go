package controlplane

import (
	"fmt"
	"path/filepath"
	"time"

	"open-cluster-management.io/fleet-addon/test/env/internal/process"
	"open-cluster-management.io/fleet-addon/test/env/internal/toolchain"
)

// EtcdURL is the client URL for a port.
func EtcdURL(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }

// Etcd is the one etcd of all clusters of an environment. It does not wait for the disk: nothing here must survive a
// crash of the machine.
func Etcd(tools toolchain.Tools, dir string, client, peer int) process.Spec {
	peerURL := EtcdURL(peer)
	return process.Spec{
		Name: "etcd", Path: tools.Path("etcd"), Dir: dir, Log: filepath.Join(dir, "logs", "etcd.log"), Grace: 8 * time.Second,
		Args: []string{
			"--name=env", "--data-dir=" + filepath.Join(dir, "etcd"),
			"--listen-client-urls=" + EtcdURL(client), "--advertise-client-urls=" + EtcdURL(client),
			"--listen-peer-urls=" + peerURL, "--initial-advertise-peer-urls=" + peerURL, "--initial-cluster=env=" + peerURL,
			"--unsafe-no-fsync", "--auto-compaction-mode=periodic", "--auto-compaction-retention=5m",
			"--quota-backend-bytes=2147483648", "--log-level=warn",
		},
	}
}
