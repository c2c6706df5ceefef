package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func membershipSpecs() {
	It("loses its release after the grace when its label is gone", func(ctx context.Context) {
		t := newTenant("label").create(ctx)
		a := t.app("web")
		journal := record(a.key())
		revision := a.apply(ctx)
		awaitComplete(ctx, a.key(), revision)
		DeferCleanup(label, "dev2", environmentLabel, "dev", NodeTimeout(patience))
		start := time.Now()
		label(ctx, "dev2", environmentLabel, "")
		Consistently(ctx, func(g Gomega, ctx context.Context) {
			g.Expect(a.objectsOn(ctx, g, "dev2")).NotTo(BeEmpty())
		}).WithTimeout(removalGrace / 2).Should(Succeed())
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			g.Expect(a.objectsOn(ctx, g, "dev2")).To(BeEmpty())
		}).WithTimeout(removalGrace + patience).Should(Succeed())
		entries := journal.of("dev2")
		last := entries[len(entries)-1]
		Expect(last.gone).To(BeTrue())
		Expect(last.at.Sub(start)).To(BeNumerically(">=", removalGrace), "removed too early")
		for _, name := range []string{"dev1", "stg", "prod"} {
			journal.expectUntouched(name, start)
		}

		By("it gets its release again with its label")
		label(ctx, "dev2", environmentLabel, "dev")
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			g.Expect(a.runs(ctx, g, "dev2")).To(Equal(a.chartVersion()))
		}).Should(Succeed())
	}, SpecTimeout(4*time.Minute))

	It("keeps its release while it is unreachable, and when it comes back before the Placement has decided again", Label("local"), func(ctx context.Context) {
		needLocal()
		t := newTenant("dark").create(ctx)
		a := t.app("web")
		// Nothing but the Placement selects the cluster, and the Placement drops it.
		a.implicit = true
		journal := record(a.key())
		revision := a.apply(ctx)
		awaitComplete(ctx, a.key(), revision)
		before := a.settings(ctx, Default, "dev2").UID
		start := time.Now()

		By("its agents stop")
		DeferCleanup(fault, "start-agents", "dev2", NodeTimeout(2*patience))
		fault(ctx, "stop-agents", "dev2")
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			g.Expect(taints(ctx, g, "dev2")).To(ContainElement(clusterUnreachable))
			g.Expect(decided(ctx, g, t.placement)).To(ConsistOf("dev1", "stg", "prod"))
		}).WithTimeout(2 * patience).Should(Succeed())
		expectKept := func(g Gomega, ctx context.Context) {
			g.Expect(a.settings(ctx, g, "dev2")).To(HaveField("UID", before))
			g.Expect(worksOf(ctx, g, t.namespace)).To(ContainElement(And(
				HaveField("Namespace", "dev2"), HaveField("DeletionTimestamp", BeNil()))))
		}
		Consistently(ctx, expectKept).WithTimeout(removalGrace + 5*time.Second).Should(Succeed())

		By("it comes back while the Placement decides nothing")
		freeze(ctx, t.placement)
		fault(ctx, "start-agents", "dev2")
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			g.Expect(taints(ctx, g, "dev2")).To(BeEmpty())
		}).Should(Succeed())
		// Shorter than the grace: the decisions are late, not wrong for good.
		Consistently(ctx, expectKept).WithTimeout(3 * settleTime).Should(Succeed())

		By("the Placement decides again")
		thaw(ctx, t.placement)
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			g.Expect(decided(ctx, g, t.placement)).To(ConsistOf("dev1", "dev2", "stg", "prod"))
		}).Should(Succeed())
		awaitComplete(ctx, a.key(), revision)
		Consistently(ctx, expectKept).WithTimeout(2 * settleTime).Should(Succeed())
		for _, name := range every {
			journal.expectUntouched(name, start)
		}
	}, SpecTimeout(6*time.Minute))
}

// label sets a label of a ManagedCluster, or takes it away with "".
func label(ctx context.Context, name, key, value string) {
	GinkgoHelper()
	m := &clusterv1.ManagedCluster{}
	Expect(hub.Get(ctx, types.NamespacedName{Name: name}, m)).To(Succeed())
	before := m.DeepCopy()
	if value == "" {
		delete(m.Labels, key)
	} else {
		m.Labels[key] = value
	}
	Expect(hub.Patch(ctx, m, client.MergeFrom(before))).To(Succeed())
}

func taints(ctx context.Context, g Gomega, name string) []string {
	m := &clusterv1.ManagedCluster{}
	g.Expect(hub.Get(ctx, types.NamespacedName{Name: name}, m)).To(Succeed())
	var out []string
	for _, taint := range m.Spec.Taints {
		out = append(out, taint.Key)
	}
	return out
}

// decided are the clusters that a Placement decides now.
func decided(ctx context.Context, g Gomega, p *clusterv1beta1.Placement) []string {
	var out []string
	for _, d := range decisionsOf(ctx, g, p) {
		for _, c := range d.Status.Decisions {
			out = append(out, c.ClusterName)
		}
	}
	return out
}

func decisionsOf(ctx context.Context, g Gomega, p *clusterv1beta1.Placement) []clusterv1beta1.PlacementDecision {
	list := &clusterv1beta1.PlacementDecisionList{}
	g.Expect(hub.List(ctx, list, client.InNamespace(p.Namespace), client.MatchingLabels{clusterv1beta1.PlacementLabel: p.Name})).To(Succeed())
	return list.Items
}

// freeze makes OCM leave the decisions of a Placement as they are, and thaw decide again.
func freeze(ctx context.Context, p *clusterv1beta1.Placement) {
	GinkgoHelper()
	annotate(ctx, p, true)
}

func thaw(ctx context.Context, p *clusterv1beta1.Placement) {
	GinkgoHelper()
	annotate(ctx, p, false)
}

func annotate(ctx context.Context, p *clusterv1beta1.Placement, frozen bool) {
	GinkgoHelper()
	Expect(hub.Get(ctx, client.ObjectKeyFromObject(p), p)).To(Succeed())
	before := p.DeepCopy()
	delete(p.Annotations, clusterv1beta1.PlacementDisableAnnotation)
	if frozen {
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		p.Annotations[clusterv1beta1.PlacementDisableAnnotation] = "true"
	}
	Expect(hub.Patch(ctx, p, client.MergeFrom(before))).To(Succeed())
}
