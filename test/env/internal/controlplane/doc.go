// Package controlplane knows how etcd, the Kubernetes components and kwok are started for one cluster: files, flags and
// ports. It starts nothing itself.
package controlplane
