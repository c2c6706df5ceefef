// Package policy is the controller of RolloutPolicies: it says in their status
// whether they can be used. Which bundles they govern is decided in pkg/rollout.
package policy
