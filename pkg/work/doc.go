// Package work turns one admission into a ManifestWork and reads a ManifestWork
// back: what was admitted, what is remembered, and what the agent says.
//
// It is the only place that knows a work's name, labels, annotations, manifests
// and feedback. It has no client: it returns objects and patches.
package work
