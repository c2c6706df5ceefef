// Package v1alpha1 holds the kinds that this project adds to a hub and to its
// managed clusters: RolloutPolicy and Rollout for people, Content and
// BundleDeployment for our own components. What people write for Fleet stays in
// fleet.cattle.io/v1alpha1. It imports API modules only.
//
// +kubebuilder:object:generate=true
// +groupName=fleet.open-cluster-management.io
package v1alpha1
