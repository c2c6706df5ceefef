package hub

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// serve has a registry serve a collector while the manager leads: one that stands by
// knows nothing, and two in one process must not both tell.
func serve(registry prometheus.Registerer, c prometheus.Collector) manager.RunnableFunc {
	return func(ctx context.Context) error {
		if err := registry.Register(c); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
		<-ctx.Done()
		registry.Unregister(c)
		return nil
	}
}
