// Package supervisor is the process that owns all other processes of an environment: it starts them in order, serves
// the control socket, plays faults, and ends them all when it is told to or dies.
package supervisor
