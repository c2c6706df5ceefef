// Package values moves Helm values out of a Bundle, into the Secret of the bundle's
// name, and back: on the hub they stand nowhere else. It holds the format that Fleet's
// own command line writes too, and knows no client.
package values
