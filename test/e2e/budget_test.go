package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

func budgetSpecs() {
	It("tolerates maxFailures after the deadline, and counts nobody who is still progressing", func(ctx context.Context) {
		const deadline = 15 * time.Second
		t := newTenant("budget").gates(2*time.Second, deadline.String(), 1).create(ctx)
		a := t.app("web")
		journal := record(a.key())
		first := a.apply(ctx)
		awaitComplete(ctx, a.key(), first)

		By("one of two fails: the rollout goes on when its deadline is over")
		second := a.next().on("dev1", broken()).apply(ctx)
		one := v1alpha1.StateCounts{Total: 1, Done: 1}
		awaitGroup(ctx, a.key(), second, "prod", one)
		awaitGroup(ctx, a.key(), second, "stg", one)
		awaitGroup(ctx, a.key(), second, "dev", v1alpha1.StateCounts{Total: 2, Done: 1, TimedOut: 1})
		failed := journal.admitted("dev1", second)
		Expect(journal.admitted("stg", second).first.Stamps.AdmittedAt.Sub(failed.first.Stamps.AdmittedAt)).To(BeNumerically(">=", deadline))

		By("one is timed out, one is progressing: the rollout does not go on")
		// dev1 keeps its deployment, and so its failure; only dev2 and stg get something new.
		third := a.on("dev2", broken()).on("stg", map[string]any{"message": "third"}).apply(ctx)
		awaitGroup(ctx, a.key(), third, "dev", v1alpha1.StateCounts{Total: 2, Progressing: 1, TimedOut: 1})
		start := time.Now()
		Consistently(ctx, func(g Gomega) {
			g.Expect(journal.revisions("stg")).To(Equal([]string{first, second}))
		}).WithTimeout(deadline - 5*time.Second).Should(Succeed())

		By("both are timed out: the rollout is held")
		awaitBreach(ctx, a.key(), third, "dev", v1alpha1.StateCounts{Total: 2, TimedOut: 2})
		Expect(rolloutOf(ctx, Default, a.key()).Status.Reason).To(Equal("FailureBudgetExceeded"))
		Consistently(ctx, func(g Gomega) {
			g.Expect(journal.revisions("stg")).To(Equal([]string{first, second}))
		}).WithTimeout(5 * time.Second).Should(Succeed())
		journal.expectUntouched("stg", start)

		By("one is repaired: the rollout goes on")
		fourth := a.on("dev2", working()).apply(ctx)
		awaitGroup(ctx, a.key(), fourth, "stg", one)
		Expect(journal.revisions("stg")).To(Equal([]string{first, second, fourth}))
		Expect(journal.revisions("dev1")).To(Equal([]string{first, second}))
	}, SpecTimeout(5*time.Minute))
}
