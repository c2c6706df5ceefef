// Package drain is the controller of the ManagedClusterAddOns `fleet`. Its
// finalizer keeps the agent of a cluster until the cluster's bundles are
// uninstalled, and never longer than something is there to wait for. It also has
// the work agent try again what it could not apply before the add-on was ready.
package drain
