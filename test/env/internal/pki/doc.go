// Package pki makes the certificate authority, certificates, service account key and kubeconfigs of one cluster. What
// is there already is kept, so that a cluster can be started again on its data.
package pki
