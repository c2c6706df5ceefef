// Package diff compares what a bundle makes on clusters with what it would make: object
// by object, with the data of Secrets hidden. It has no cluster.
package diff
