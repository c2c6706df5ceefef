// Package source gets what bundles are made of from elsewhere: charts from chart
// repositories, OCI registries, archives and git. It goes to no place that the user
// has not named, and shows its credentials to no other.
package source
