// Package hub owns the manager's controllers, one folder each. A controller
// gathers everything once, calls the pure packages, carries out their answer and
// writes status once. It has no gate of its own: what may go where is decided in
// pkg/rollout.
package hub
