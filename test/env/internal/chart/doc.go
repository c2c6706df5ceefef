// Package chart installs, upgrades and uninstalls charts on a cluster with the Helm SDK: there may be no helm binary.
package chart
