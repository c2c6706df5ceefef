// Package agent is the spoke: it runs on a managed cluster, deploys the
// BundleDeployments of its namespace, and reports to the hub. It only wires up;
// package deploy reconciles, release is the door to Helm, health watches,
// verdict judges, and hub is the door to the hub.
package agent
