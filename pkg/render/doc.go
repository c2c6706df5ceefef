// Package render makes of a bundle's files and options what is deployed: the Helm chart
// among them, or one around raw YAML with its overlays, and after Helm's templates what
// Kustomize makes of them. The agent and the command line share it; it has no cluster and
// no clock.
package render
