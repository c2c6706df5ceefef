package e2e

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func quietSpecs() {
	It("writes nothing but leases for a whole minute", Label("local"), func(ctx context.Context) {
		needLocal()
		t := newTenant("quiet").gates(0, "None", 0).create(ctx)
		a := t.app("web")
		awaitComplete(ctx, a.key(), a.apply(ctx))
		// An agent's last summary may follow by a minute.
		Eventually(ctx, func(g Gomega) {
			writes := ourWrites(time.Now().Add(-time.Minute))
			g.Expect(writes).To(BeEmpty(), "writes: %v", writes)
		}).WithPolling(5 * time.Second).WithTimeout(150 * time.Second).Should(Succeed())
	}, SpecTimeout(4*time.Minute))
}

// ourWrites are those of the manager and of all agents, on the hub and on the clusters.
func ourWrites(since time.Time) []write {
	GinkgoHelper()
	var out []write
	for _, m := range append([]member{env.Hub}, env.Clusters...) {
		out = append(out, writesSince(m, since)...)
	}
	return slices.DeleteFunc(out, func(w write) bool { return !w.ours() })
}
