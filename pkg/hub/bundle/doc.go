// Package bundle is the controller of Bundles: it gathers everything that a
// rollout depends on into one struct, asks pkg/target and pkg/rollout, carries
// out the plan in chunks of ManifestWork writes, and writes the status of the
// Rollout and of the Bundle. A Bundle has no finalizer: the works of one that is
// gone are found by their index.
package bundle
