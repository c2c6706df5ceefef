// Package deploy reconciles BundleDeployments: it gathers what is wanted and what
// is there, lets package release take the steps between, and writes the verdict.
//
// There is no finalizer on a BundleDeployment. A release whose BundleDeployment
// is gone, as a live read confirms, is found by the labels of its Helm Secrets
// and removed; so nothing of ours keeps a ManifestWork or a cluster from going,
// and a release that was orphaned while no agent ran is found at the next start.
package deploy
