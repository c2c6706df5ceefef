// Package release is the only door to Helm. It owns one Helm release per bundle
// deployment: names and labels, the chart that is made of a bundle's files, and
// a state machine that classifies a release, takes one action, and looks again.
//
// Helm's own records in Secrets are its only memory, so an agent that was killed
// anywhere finds out what it was doing. Nothing here waits for readiness.
package release
