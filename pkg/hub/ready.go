package hub

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// readyWait is how long a readiness probe waits for the caches; a kubelet gives one
// a second by default.
const readyWait = 500 * time.Millisecond

// Ready is the check behind /readyz: a manager is ready when its caches are filled,
// as the leader or as the one that stands by.
func Ready(caches interface {
	WaitForCacheSync(ctx context.Context) bool
}) healthz.Checker {
	return func(req *http.Request) error {
		ctx, cancel := context.WithTimeout(req.Context(), readyWait)
		defer cancel()
		if !caches.WaitForCacheSync(ctx) {
			return errors.New("the caches are not filled yet")
		}
		return nil
	}
}
