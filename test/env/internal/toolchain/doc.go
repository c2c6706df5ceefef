// Package toolchain builds the programs of an environment (etcd, Kubernetes, kwok, Open Cluster Management) from their
// Go modules into a cache outside the repository. A program is there complete or not at all.
package toolchain
