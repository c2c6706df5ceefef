// Package deployment reads what one cluster is to deploy of a bundle, from a file or a
// ManifestWork: the Content with the files, the BundleDeployment, and the Secret with the
// Helm values, of our own kinds or of Fleet's. It checks every hash, and has no cluster.
package deployment
