// Package content owns the stored form of a bundle's files: one canonical JSON
// document of the resources, sorted by name, in a gzip, named by the hash of the
// uncompressed document. The hub packs, the agent unpacks and verifies. Nothing
// here trusts the size that a gzip claims to have.
package content
