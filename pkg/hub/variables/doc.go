// Package variables tells what templates of bundles know as the values of a cluster:
// the customized variables of the AddOnDeploymentConfig that is in force there, and the
// ManagedCluster's own annotation over them.
//
// OCM's rollout of a config tells each cluster a hash. A cluster has the variables that
// its hash stands for, and gets no edit before its turn.
package variables
