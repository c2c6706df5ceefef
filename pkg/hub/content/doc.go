// Package content owns the Content objects on the hub: one is created before the
// first work that needs it, never changed, and deleted when no bundle and no work
// needs it any more. What stands in one is decided in pkg/content.
package content
