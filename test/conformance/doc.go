// Command conformance compares what `fleetctl apply` makes of directories with what Fleet's own command line made of them.
//
// It takes a folder with bundles/CASE/ in it: input/ is where the command runs, case.yaml has its arguments and its exit
// status, and expected.yaml is what Fleet printed. Bundles are compared field by field. The order of their files and the
// label with the commit say nothing about the bundle and are left out; intended.go lists what is different on purpose.
package main
