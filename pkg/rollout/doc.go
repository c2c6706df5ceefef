// Package rollout decides which clusters get a bundle now, which wait, and why.
//
// It is pure: Plan takes everything it depends on in one Input and a time, and
// returns actions, states and sentences. It has no client, no clock and no log,
// and the same input gives the same answer in any order of lists and maps. The
// controller gathers the input, carries out the answer, and has no gate of its own.
package rollout
