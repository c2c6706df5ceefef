package e2e

import (
	"context"
	"math/rand/v2"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func killSpecs() {
	It("loses nothing: the same order, and no write too many", func(ctx context.Context) {
		needLocal()
		const soak, kills = 4 * time.Second, 2
		t := newTenant("kill").gates(soak, "None", 0).create(ctx)
		a := t.app("web")
		journal := record(a.key())
		first := a.apply(ctx)
		awaitComplete(ctx, a.key(), first)
		second := a.next().apply(ctx)
		random := rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), 0)) //nolint:gosec // a seed that the report prints
		for range kills {
			// The moments are counted in what happens to the works, as that is where a kill can hurt.
			moment := journal.size() + random.IntN(6)
			Eventually(ctx, journal.size).WithPolling(5 * time.Millisecond).Should(BeNumerically(">=", moment))
			fault(ctx, "kill-pod", "hub", "--namespace", chartNamespace, "--selector", managerSelector)
			if len(journal.admissions("prod")) > 1 {
				break
			}
		}
		awaitComplete(ctx, a.key(), second)
		journal.expectOrder(second, soak, groups...)
		for _, name := range every {
			journal.expectOneWrite(name, first, second)
		}
	}, SpecTimeout(5*time.Minute))
}

// managerSelector selects the manager's pods.
const managerSelector = "app.kubernetes.io/component=manager"
