// Package cli is fleetctl: commands for people who write bundles and watch them
// roll out. It reads and writes what they could with kubectl, in their own name.
package cli
