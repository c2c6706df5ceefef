// Package placement watches Placements and their decisions and keeps one view of
// each in memory, shared by all bundles. What a view means is decided in
// pkg/rollout; this package only looks, and tells the bundles that asked.
package placement
