// Package revision writes a bundle's revision into a ControllerRevision and reads it
// back.
//
// It owns what of a Bundle is kept, its names and its hash check. The files stay in a
// Content, which the ControllerRevision names, and Helm values in a Secret of their
// own: a ControllerRevision is read by more people than a Secret. It does not know
// which revisions are kept, nor for how long.
package revision
