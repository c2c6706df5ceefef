// Package ports hands out free TCP ports of the loopback address.
package ports
