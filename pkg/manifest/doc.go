// Package manifest owns the text form of Kubernetes objects: it splits YAML and
// JSON streams into objects and names the objects of a rendered release. It has no
// cluster.
package manifest
