// Package fault owns what becomes of an error: terminal, waiting or retry. It
// classifies what Helm and the API server answer, takes Helm values out of
// messages, and turns an error into the next look at a bundle. Nothing else
// decides whether something is tried again.
package fault
