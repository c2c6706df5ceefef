// Package reference writes what every command of fleetctl takes and does as one page of
// Markdown, from the commands themselves. Equal commands give equal pages.
package reference
