// Package hub is the agent's door to the hub: it fetches contents, watches the
// cluster's own ManagedClusterAddOn, and reports on it. It asks for no more than
// get on contents, get, list and watch on that one object, and patch on its
// status. A hub that is away stops nothing else of the agent.
package hub
