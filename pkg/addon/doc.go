// Package addon is the side of the add-on framework: what is installed on a
// managed cluster, how the agent registers and what it may do on the hub, and how
// everything goes again (`fleet-addon uninstall`). Bundles are not its business.
package addon
