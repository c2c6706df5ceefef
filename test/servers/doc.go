// Package servers has the servers that charts come from, for tests: a chart repository,
// an OCI registry, git over HTTPS and over SSH, and plain files. They are real ones, on
// 127.0.0.1, with a CA and with passwords of their own. They stop when the test ends.
package servers
