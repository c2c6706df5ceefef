// Package publish writes Bundles to a hub: the Bundle without its Helm values, the Secret
// with them, and, when all are written, the removal of those that are not made any more.
// What is as it should be is not written.
package publish
