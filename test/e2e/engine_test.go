package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// engineSpecs are about strategies over more clusters than there are real ones.
func engineSpecs() {
	It("take one cluster after the other with Progressive and maxConcurrency 1", func(ctx context.Context) {
		t := newTenant("one-by-one")
		one := intstr.FromInt32(1)
		t.policy.Spec.PlacementRefs[0].RolloutStrategy = v1alpha1.RolloutStrategy{
			Type:        v1alpha1.StrategyProgressive,
			Progressive: &v1alpha1.RolloutProgressive{MaxConcurrency: &one},
		}
		withStandIns(ctx, t, 500*time.Millisecond, standInGroup{"dev", 2}, standInGroup{"stg", 2}, standInGroup{"prod", 2})
		a := t.create(ctx).app("web")
		journal := record(a.key())
		awaitComplete(ctx, a.key(), a.apply(ctx))
		awaitComplete(ctx, a.key(), a.next().apply(ctx))
		Expect(journal.worstInFlight()).To(Equal(1), "the most clusters in flight at a time")
	}, SpecTimeout(3*time.Minute))

	It("stop when paused in the middle, say what would follow, and go on when resumed", func(ctx context.Context) {
		t := newTenant("pause").gates(2*time.Second, "None", 0)
		withStandIns(ctx, t, 200*time.Millisecond, standInGroup{"dev", 2}, standInGroup{"stg", 2}, standInGroup{"prod", 2})
		a := t.create(ctx).app("web")
		journal := record(a.key())
		first := a.apply(ctx)
		awaitComplete(ctx, a.key(), first)

		second := a.next().apply(ctx)
		Eventually(ctx, func() []string { return journal.on(second) }).Should(HaveLen(2), "dev is admitted")
		fleetctl(ctx, 0, "rollout", "pause", a.name, "-n", a.namespace)
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			r := rolloutOf(ctx, g, a.key())
			g.Expect(r.Status.Reason).To(Equal("Paused"), r.Status.Message)
			g.Expect(groupOf(r, "dev").Counts.Done).To(BeEquivalentTo(2))
			g.Expect(groupOf(r, "stg").Next).To(BeEquivalentTo(2))
		}).Should(Succeed())
		Consistently(ctx, func() []string { return journal.on(second) }).WithTimeout(3 * settleTime).Should(HaveLen(2))
		Expect(fleetctl(ctx, 0, "rollout", "plan", a.name, "-n", a.namespace)).To(ContainSubstring("stg"))

		fleetctl(ctx, 0, "rollout", "resume", a.name, "-n", a.namespace)
		awaitComplete(ctx, a.key(), second)
	}, SpecTimeout(3*time.Minute))

	It("go through automatic partitions of 250 clusters within maxUnavailable", func(ctx context.Context) {
		t := newTenant("auto")
		// The bundle has partitions of its own: no policy may select it.
		t.policy.Spec.BundleSelector = nil
		withStandIns(ctx, t, 0, standInGroup{"prod", 250})
		a := t.create(ctx).app("web")
		share := intstr.FromString("25%")
		a.strategy = &fleet.RolloutStrategy{AutoPartitionSize: &share, MaxUnavailable: &share}
		journal := record(a.key())
		first := a.apply(ctx)
		awaitComplete(ctx, a.key(), first)
		b := &fleet.Bundle{}
		Expect(hub.Get(ctx, a.key(), b)).To(Succeed())
		var counts []int
		for _, p := range b.Status.PartitionStatus {
			counts = append(counts, p.Count)
		}
		Expect(counts).To(Equal([]int{62, 62, 62, 62, 2}))

		second := a.next().apply(ctx)
		awaitComplete(ctx, a.key(), second)
		// A quarter of 62, and of the bundle's 250.
		Expect(journal.worstInFlightOf(second)).To(And(BeNumerically(">", 0), BeNumerically("<=", 62)))
		Expect(journal.worstPerPartition(second, 62)).To(BeNumerically("<=", 15))
	}, SpecTimeout(5*time.Minute))

	It("go from staging to prod through the bundle's own partitions", func(ctx context.Context) {
		t := newTenant("manual")
		t.policy.Spec.BundleSelector = nil
		a := t.create(ctx).app("web")
		none := intstr.FromInt32(0)
		a.strategy = &fleet.RolloutStrategy{MaxUnavailable: &none, Partitions: []fleet.Partition{
			{Name: "staging", ClusterSelector: inEnvironment("dev", "stg")},
			{Name: "production", ClusterSelector: inEnvironment("prod")},
		}}
		journal := record(a.key())
		first := a.apply(ctx)
		awaitComplete(ctx, a.key(), first)
		journal.expectOrder(first, 0, []string{"dev1", "dev2", "stg"}, prod)

		By("a version that fails in staging does not reach prod")
		second := a.next().on("dev2", broken()).apply(ctx)
		Eventually(ctx, func() []string { return journal.revisions("dev2") }).Should(Equal([]string{first, second}))
		Consistently(ctx, func() []string { return journal.revisions("prod") }).WithTimeout(5 * settleTime).Should(Equal([]string{first}))

		By("the repair does")
		third := a.next().on("dev2", working()).apply(ctx)
		awaitComplete(ctx, a.key(), third)
		Expect(journal.revisions("prod")).To(Equal([]string{first, third}))
	}, SpecTimeout(4*time.Minute))

	It("take an older revision back through the same gates, and keep it until the pin is gone", func(ctx context.Context) {
		t := newTenant("undo").gates(2*time.Second, "None", 0)
		a := t.create(ctx).app("web")
		journal := record(a.key())
		first := a.apply(ctx)
		awaitComplete(ctx, a.key(), first)
		second := a.next().apply(ctx)
		awaitComplete(ctx, a.key(), second)

		start := journal.size()
		fleetctl(ctx, 0, "rollout", "undo", a.name, "--to-revision", "1", "-n", a.namespace)
		awaitComplete(ctx, a.key(), first)
		for _, name := range every {
			Expect(a.runs(ctx, Default, name)).To(Equal("1.0.0"), "on %s", name)
		}
		journal.expectOrderSince(start, first, 2*time.Second, dev, stg, prod)

		By("the pin holds against the next commit")
		third := a.next().apply(ctx)
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			g.Expect(rolloutOf(ctx, g, a.key()).Status.BundleRevision).To(Equal(third))
		}).Should(Succeed())
		Consistently(ctx, func() []string { return journal.on(third) }).WithTimeout(3 * settleTime).Should(BeEmpty())
		Expect(fleetctl(ctx, 0, "rollout", "history", a.name, "-n", a.namespace)).To(And(
			ContainSubstring(first), ContainSubstring(second), ContainSubstring(third)))

		By("it is taken away")
		fleetctl(ctx, 0, "rollout", "undo", a.name, "--clear", "-n", a.namespace)
		awaitComplete(ctx, a.key(), third)
	}, SpecTimeout(5*time.Minute))

	It("lose nothing with a ManagedClusterSetBinding until somebody confirms it", func(ctx context.Context) {
		t := newTenant("unbound").gates(0, "None", 0)
		a := t.create(ctx).app("web")
		awaitComplete(ctx, a.key(), a.apply(ctx))
		Expect(hub.Delete(ctx, t.binding())).To(Succeed())
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			r := rolloutOf(ctx, g, a.key())
			// That its groups are gone waits for a person as well.
			g.Expect(r.Status.Confirmations).To(ContainElement(And(
				HaveField("Reason", "RemovalGuard"), HaveField("Clusters", ConsistOf(every)))))
		}).WithTimeout(removalGrace + patience).Should(Succeed())
		Consistently(ctx, func(g Gomega, ctx context.Context) {
			for _, name := range every {
				g.Expect(a.runs(ctx, g, name)).To(Equal(a.chartVersion()), "on %s", name)
			}
		}).WithTimeout(5 * time.Second).Should(Succeed())

		fleetctl(ctx, 0, "rollout", "confirm", a.name, "--reason", "RemovalGuard", "--yes", "-n", a.namespace)
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			for _, name := range every {
				g.Expect(a.objectsOn(ctx, g, name)).To(BeEmpty(), "on %s", name)
			}
		}).Should(Succeed())
	}, SpecTimeout(4*time.Minute))
}

// cutOffSpecs stop the agents of dev.
func cutOffSpecs() {
	It("stays in dev when it cuts dev off, and so does the next one", Label("local"), func(ctx context.Context) {
		needLocal()
		t := newTenant("cut-off").gates(20*time.Second, "None", 0)
		a := t.create(ctx).app("web")
		journal := record(a.key())
		first := a.apply(ctx)
		awaitComplete(ctx, a.key(), first)

		second := a.next().apply(ctx)
		for _, name := range dev {
			DeferCleanup(fault, "start-agents", name, NodeTimeout(2*patience))
			Eventually(ctx, func() bool { return journal.applied(name, second) }).Should(BeTrue(), "%s applies", name)
			fault(ctx, "stop-agents", name)
		}
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			for _, name := range dev {
				g.Expect(taints(ctx, g, name)).To(ContainElement(clusterUnreachable))
			}
			g.Expect(decided(ctx, g, t.placement)).To(ConsistOf("stg", "prod"))
		}).WithTimeout(2 * patience).Should(Succeed())
		expectHeld := func(g Gomega) {
			g.Expect(journal.revisions("stg")).To(Equal([]string{first}))
			g.Expect(journal.revisions("prod")).To(Equal([]string{first}))
		}
		// Longer than the grace: what is dark is not absent.
		Consistently(ctx, expectHeld).WithTimeout(removalGrace + 3*settleTime).Should(Succeed())

		By("another version while dev is dark")
		third := a.next().apply(ctx)
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			r := rolloutOf(ctx, g, a.key())
			g.Expect(r.Status.Revision).To(Equal(third))
			g.Expect(groupOf(r, "dev").Counts.Total).To(BeEquivalentTo(2))
		}).Should(Succeed())
		Consistently(ctx, expectHeld).WithTimeout(3 * settleTime).Should(Succeed())

		By("dev comes back")
		for _, name := range dev {
			fault(ctx, "start-agents", name)
		}
		awaitComplete(ctx, a.key(), third)
		journal.expectOrder(third, 20*time.Second, dev, stg, prod)
	}, SpecTimeout(8*time.Minute))
}

// on lists the clusters that were ever admitted to a revision, in name order.
func (j *journal) on(revision string) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	seen := map[string]bool{}
	for _, e := range j.list {
		if e.Revision == revision {
			seen[e.cluster] = true
		}
	}
	return sortedKeys(seen)
}

// applied tells whether the agent of a cluster has said that it applied a revision.
func (j *journal) applied(cluster, revision string) bool {
	for _, e := range j.of(cluster) {
		if e.Revision == revision && e.Verdict.Admission == e.Admission && e.Verdict.Applied {
			return true
		}
	}
	return false
}

func (j *journal) worstInFlight() int {
	return j.worst(func(e entry) string { return fmt.Sprint(true) })
}

// worstInFlightOf counts clusters that are admitted to a revision and not ready on it.
func (j *journal) worstInFlightOf(revision string) int {
	return j.worst(func(e entry) string {
		if e.Revision == revision {
			return revision
		}
		return ""
	})
}

// worstPerPartition is the same in each run of size clusters in name order.
func (j *journal) worstPerPartition(revision string, size int) int {
	j.mu.Lock()
	all := map[string]bool{}
	for _, e := range j.list {
		all[e.cluster] = true
	}
	j.mu.Unlock()
	place := map[string]int{}
	for i, name := range sortedKeys(all) {
		place[name] = i / size
	}
	return j.worst(func(e entry) string {
		if e.Revision == revision {
			return fmt.Sprint(place[e.cluster])
		}
		return ""
	})
}

// worst is the most clusters of one kind that were admitted and not ready at the same time; "" is none.
func (j *journal) worst(kind func(entry) string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	most, now, waiting := 0, map[string]int{}, map[string]string{}
	for _, e := range j.list {
		now[waiting[e.cluster]]--
		delete(waiting, e.cluster)
		if ready := e.Verdict.Admission == e.Admission && e.Verdict.Ready; !ready && !e.gone {
			waiting[e.cluster] = kind(e)
		}
		now[waiting[e.cluster]]++
		if k := waiting[e.cluster]; k != "" {
			most = max(most, now[k])
		}
	}
	return most
}

// expectOrderSince is expectOrder for a revision that was admitted before, too: what counts is what came after an entry.
func (j *journal) expectOrderSince(start int, revision string, minSuccess time.Duration, order ...[]string) {
	GinkgoHelper()
	later := &journal{bundle: types.NamespacedName{}}
	j.mu.Lock()
	for _, e := range j.list[start:] {
		if e.Revision == revision {
			e.number = len(later.list)
			later.list = append(later.list, e)
		}
	}
	j.mu.Unlock()
	later.expectOrder(revision, minSuccess, order...)
}

func sortedKeys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
