// Package env is a real hub and real managed clusters as local processes: etcd, Kubernetes and Open Cluster Management
// built from their Go modules, on 127.0.0.1. Only nodes are faked (by kwok), except for the pods of the fleet-addon
// image, which run as processes of this machine.
//
// An environment is a folder, its state directory, and a supervisor process that owns all other processes. This package
// starts and stops environments and talks to the supervisor; DIR/env.json and `env status -o json` say the same to
// programs that do not import it.
package env
