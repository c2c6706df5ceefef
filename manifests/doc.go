// Package manifests embeds what the add-on installs elsewhere: the CRDs and the
// chart of the agent. It holds files and no logic.
//
// crds/ is generated from the Go types and is the source; the copies in
// agent/crds and in the hub chart's files/crds are made from it by `place`.
package manifests
