package e2e

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

func decisionSpecs() {
	It("admit and remove nothing while they do not fit the Placement's status", func(ctx context.Context) {
		t := newTenant("torn").create(ctx)
		a := t.app("web")
		journal := record(a.key())
		first := a.apply(ctx)
		awaitComplete(ctx, a.key(), first)

		freeze(ctx, t.placement)
		hide(ctx, t.placement, "dev2")
		start := time.Now()
		second := a.next().apply(ctx)
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			r := rolloutOf(ctx, g, a.key())
			g.Expect(r.Status.Revision).To(Equal(second))
			g.Expect(r.Status.Reason).To(Equal("PlacementInconsistent"), r.Status.Message)
		}).Should(Succeed())
		Consistently(ctx, func(g Gomega) {
			for _, name := range every {
				g.Expect(journal.revisions(name)).To(Equal([]string{first}))
			}
		}).WithTimeout(5 * settleTime).Should(Succeed())
		for _, name := range every {
			journal.expectUntouched(name, start)
		}

		thaw(ctx, t.placement)
		awaitComplete(ctx, a.key(), second)
	}, SpecTimeout(4*time.Minute))

	It("admit and remove nothing while they miss a cluster, however well they fit", func(ctx context.Context) {
		t := newTenant("missing").create(ctx)
		a := t.app("web")
		journal := record(a.key())
		first := a.apply(ctx)
		awaitComplete(ctx, a.key(), first)

		By("dev2 is under way, and hidden: without it dev would be through")
		second := a.next().on("dev2", broken()).apply(ctx)
		awaitGroup(ctx, a.key(), second, "dev", v1alpha1.StateCounts{Total: 2, Done: 1, Progressing: 1})
		freeze(ctx, t.placement)
		hide(ctx, t.placement, "dev2")
		recount(ctx, t.placement)
		start := time.Now()
		Consistently(ctx, func(g Gomega) {
			g.Expect(journal.revisions("stg")).To(Equal([]string{first}))
			g.Expect(journal.revisions("dev2")).To(Equal([]string{first, second}))
		}).WithTimeout(20 * time.Second).Should(Succeed())
		for _, name := range every {
			journal.expectUntouched(name, start)
		}

		By("it is seen again, and repaired")
		thaw(ctx, t.placement)
		third := a.on("dev2", working()).apply(ctx)
		awaitComplete(ctx, a.key(), third)
		journal.expectOrder(third, 0, []string{"dev2"})
		Expect(journal.revisions("dev2")).To(Equal([]string{first, second, third}))
	}, SpecTimeout(4*time.Minute))
}

// hide takes a cluster out of a Placement's decisions, as if they had been written one by one.
func hide(ctx context.Context, p *clusterv1beta1.Placement, cluster string) {
	GinkgoHelper()
	for _, d := range decisionsOf(ctx, Default, p) {
		before := d.DeepCopy()
		d.Status.Decisions = slices.DeleteFunc(d.Status.Decisions, func(c clusterv1beta1.ClusterDecision) bool {
			return c.ClusterName == cluster
		})
		Expect(hub.Status().Patch(ctx, &d, client.MergeFrom(before))).To(Succeed())
	}
}

// recount makes the Placement's status fit its decisions.
func recount(ctx context.Context, p *clusterv1beta1.Placement) {
	GinkgoHelper()
	counts, total := map[string]int32{}, int32(0)
	for _, d := range decisionsOf(ctx, Default, p) {
		n := int32(len(d.Status.Decisions)) //nolint:gosec // a handful
		counts[d.Labels[clusterv1beta1.DecisionGroupNameLabel]] += n
		total += n
	}
	Expect(hub.Get(ctx, client.ObjectKeyFromObject(p), p)).To(Succeed())
	before := p.DeepCopy()
	for i := range p.Status.DecisionGroups {
		p.Status.DecisionGroups[i].ClustersCount = counts[p.Status.DecisionGroups[i].DecisionGroupName]
	}
	p.Status.NumberOfSelectedClusters = total
	Expect(hub.Status().Patch(ctx, p, client.MergeFrom(before))).To(Succeed())
}
