// Package lockfile takes advisory locks on files, which end with the process that holds them, or with the last one
// that inherited them.
package lockfile
