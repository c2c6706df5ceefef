// Package targeting tells which clusters a bundle goes to, and what each of them gets,
// with the rules of the manager. What there is comes from a hub, from a file, or is one
// stand-in cluster. It has no rollout: it says what is wanted, and not when.
package targeting
