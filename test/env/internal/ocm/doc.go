// Package ocm sets up Open Cluster Management: its hub side, and managed clusters that join it. The agents run with the
// roles that a klusterlet gives them; only the hub's own controllers are administrators.
package ocm
