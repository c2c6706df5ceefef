// Package install deploys a bundle on a cluster as the agent does, once and from the
// command line: with the same Helm releases, labels and state machine, and without the
// add-on or any of its CRDs there.
package install
