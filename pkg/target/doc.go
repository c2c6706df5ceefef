// Package target decides which clusters a Bundle goes to and with which options.
//
// It owns matching, the merge of a target's options over the bundle's, what of a
// Bundle this version refuses, and the ids of deployments and revisions. It does
// not know which clusters a namespace may use, nor when a cluster gets what.
package target
