// Package bundle makes Bundles of directories: which directories become one, their
// names, what of their files is carried, what fleet.yaml says, and where a chart comes
// from. It reads regular files below one root and nothing else, within stated bounds;
// charts from elsewhere are fetched by whoever calls it, through Charts. It has no
// cluster.
package bundle
