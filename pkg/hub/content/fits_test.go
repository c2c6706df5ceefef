package content

import (
	"testing"

	"open-cluster-management.io/fleet-addon/pkg/bundle"
)

// A bundle that is too large is refused where it is made, before the hub must refuse it.
func TestWhatIsMadeFits(t *testing.T) {
	if bundle.MaxContent > MaxStored {
		t.Errorf("bundles of %d bytes are made and %d are stored", bundle.MaxContent, MaxStored)
	}
}
