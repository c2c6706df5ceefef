// Package pods is a small kubelet for the pods of the fleet-addon image: it runs them as processes of this machine, with
// their ServiceAccount's token, the Secrets and ConfigMaps they mount, their command, arguments and environment, and
// writes their status. Everything else about them (Deployments, ReplicaSets, Jobs) is left to Kubernetes' controllers.
//
// It does: probes for readiness, restarts with back-off, graceful end, token rotation, volumes kept in sync. It does
// not: init containers, liveness probes, resources, security contexts, networks of pods.
package pods
