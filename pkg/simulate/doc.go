// Package simulate plays a rollout before there is one: a hub and a fleet over
// simulated time, around the planner that the real hub asks.
//
// It owns the reading of the files, Placements' decisions as OCM's controller would
// write them, agents that follow a script, and what is told of it all. It has no gate
// of its own: what is admitted, and when, is rollout.Plan's answer. It has no client
// and no clock, and the same files and seed give the same report.
package simulate
