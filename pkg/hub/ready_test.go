package hub

import (
	"context"
	"net/http/httptest"
	"testing"
)

// filled is a cache that is filled when it says so, and that waits otherwise.
type filled bool

func (f filled) WaitForCacheSync(ctx context.Context) bool {
	if !f {
		<-ctx.Done()
	}
	return bool(f)
}

func TestReady(t *testing.T) {
	for name, tc := range map[string]struct {
		caches filled
		want   bool
	}{
		"with caches":               {true, true},
		"not while they are filled": {false, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := Ready(tc.caches)(httptest.NewRequest("GET", "/readyz", nil))
			if (err == nil) != tc.want {
				t.Errorf("error %v, want ready: %v", err, tc.want)
			}
		})
	}
}
