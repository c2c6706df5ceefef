// Package lenient reads lists of what tenants write item by item, so that one
// object that Go cannot read, such as a limit that is larger than its type, is that
// object's problem and not every tenant's: a typed list fails as a whole.
package lenient
