// Package toolchain builds the programs of an environment (etcd, Kubernetes, kwok, Open Cluster Management), and Fleet's
// own command line for tests, from their Go modules into a cache outside the repository. A program is there complete or
// not at all.
package toolchain
