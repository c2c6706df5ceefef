// Package health watches the objects of the releases and says which are ready.
// There is one list and watch for each kind that is deployed anywhere on the
// cluster, filtered by the label that every object of a release carries, and
// none for a kind that no release has any more. What is kept of an object is
// what readiness can be read from. Nothing here waits.
package health
