package bundle

import "errors"

// errNotBuilt goes with the first whole reader.
var errNotBuilt = errors.New("directories cannot be read yet")
