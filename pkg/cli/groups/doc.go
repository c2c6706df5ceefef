// Package groups lays a Rollout's groups out as a table that people read: one row
// per group, with what holds it back. It renders only; nothing is fetched.
package groups
