// Package manifest renders YAML files and applies objects to one cluster, server-side.
package manifest
