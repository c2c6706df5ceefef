// Package process starts programs as children that cannot outlive this process, and remembers them on disk, so that
// what is left after a crash can be ended without ever hitting a stranger that got the same pid.
//
// It knows nothing of what the programs are.
package process
