package hub_test

import (
	"context"
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

var _ = Describe("Removal", func() {
	var w *world

	BeforeEach(func() { w = newWorld() })

	It("takes the works of a deleted bundle at once", func() {
		startManager()
		w.deploy("v1")
		w.completes()
		Expect(k8s.Delete(bg, w.bundle())).To(Succeed())
		Eventually(func() []string { return []string{w.admitted(w.dev), w.admitted(w.stg), w.admitted(w.prod)} }).
			WithTimeout(grace).Should(Equal([]string{"", "", ""}))
		Expect(w.rollout().OwnerReferences).To(ConsistOf(And(
			HaveField("Kind", "Bundle"), HaveField("Name", "app"), HaveField("BlockOwnerDeletion", HaveValue(BeFalse())))))
	})

	It("takes the works of a bundle that was deleted while no manager was running", func() {
		manager := startManager()
		w.deploy("v1")
		w.completes()
		manager.stop()
		Expect(k8s.Delete(bg, w.bundle())).To(Succeed())
		Expect(w.admitted(w.dev)).NotTo(BeEmpty())
		startManager()
		Eventually(func() []string { return []string{w.admitted(w.dev), w.admitted(w.stg), w.admitted(w.prod)} }).
			WithTimeout(patient).Should(Equal([]string{"", "", ""}))
	})

	It("leaves the works of another bundle of almost the same name", func() {
		startManager()
		other := &fleet.Bundle{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "app-2"}}
		other.Spec.Resources = []fleet.BundleResource{{Name: "a.yaml", Content: "a: 1"}}
		Expect(k8s.Create(bg, other)).To(Succeed())
		w.deploy("v1")
		w.completes()
		Expect(k8s.Delete(bg, w.bundle())).To(Succeed())
		Eventually(func() string { return w.admitted(w.dev) }).WithTimeout(patient).Should(BeEmpty())
		Expect(worksIn(w.dev)).To(ConsistOf(work.Name(keyOf(other))))
	})

	It("takes the work of a cluster that is decided no more, after the grace", func() {
		startManager()
		w.deploy("v1")
		w.completes()
		left := time.Now()
		decide(w.namespace, "stages", group{"dev", nil}, group{"stg", []string{w.stg}}, group{"prod", []string{w.prod}})
		Consistently(func() string { return w.admitted(w.dev) }).WithTimeout(grace - 500*time.Millisecond).ShouldNot(BeEmpty())
		Eventually(func() string { return w.admitted(w.dev) }).WithTimeout(patient).Should(BeEmpty())
		Expect(time.Since(left)).To(BeNumerically(">=", grace))
		Expect(w.admitted(w.stg)).NotTo(BeEmpty())
	})

	It("keeps the work of a cluster that is missing for less than the grace", func() {
		startManager()
		w.deploy("v1")
		w.completes()
		decide(w.namespace, "stages", group{"dev", nil}, group{"stg", []string{w.stg}}, group{"prod", []string{w.prod}})
		Eventually(time.After(grace / 2)).WithTimeout(grace).Should(Receive())
		w.decide()
		Consistently(func() string { return w.admitted(w.dev) }).WithTimeout(2 * grace).ShouldNot(BeEmpty())
	})

	It("keeps the work of an unreachable cluster", func() {
		startManager()
		w.deploy("v1")
		w.completes()
		setAvailable(w.dev, metav1.ConditionUnknown)
		decide(w.namespace, "stages", group{"dev", nil}, group{"stg", []string{w.stg}}, group{"prod", []string{w.prod}})
		Consistently(func() string { return w.admitted(w.dev) }).WithTimeout(2*grace + time.Second).ShouldNot(BeEmpty())
	})

	It("holds, and removes nothing, while decisions and Placement differ", func() {
		startManager()
		w.deploy("v1")
		w.completes()
		// The cluster vanishes from its decision and the Placement still counts it.
		d := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "stages-decision-1"}}
		update(d, func(d *clusterv1beta1.PlacementDecision) { d.Status.Decisions = []clusterv1beta1.ClusterDecision{} }, inStatus)
		before := w.admitted(w.dev)
		w.deploy("v2")
		Eventually(func() string { return w.rollout().Status.Reason }).WithTimeout(patient).Should(Equal("PlacementInconsistent"))
		Consistently(func() string { return w.admitted(w.dev) }).WithTimeout(2 * grace).Should(Equal(before))
		w.decide()
		w.completes()
	})

	It("of all clusters waits for a person when the namespace may not use them any more", func() {
		startManager()
		w.deploy("v1")
		w.completes()
		binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.set}}
		Expect(k8s.Delete(bg, binding)).To(Succeed())
		request := w.asked("RemovalGuard")
		Expect(request.Clusters).To(ConsistOf(w.dev, w.stg, w.prod))
		Expect(request.Total).To(Equal(int32(3)))
		Consistently(func() []bool { return []bool{w.work(w.dev) != nil, w.work(w.stg) != nil, w.work(w.prod) != nil} }).
			WithTimeout(2 * grace).Should(Equal([]bool{true, true, true}))

		By("removing them once that is confirmed")
		w.confirm(request)
		Eventually(func() []string { return []string{w.admitted(w.dev), w.admitted(w.stg), w.admitted(w.prod)} }).
			WithTimeout(patient).Should(Equal([]string{"", "", ""}))
		Eventually(func() string { return condition(w.current(), "Ready") }).WithTimeout(patient).
			Should(And(HavePrefix("False BindingMissing: "), ContainSubstring("ManagedClusterSetBinding")))
	})

	It("takes the work of a ManagedCluster that is being deleted at once", func() {
		startManager(func(o *hub.Options) { o.RemovalGrace = time.Hour })
		w.deploy("v1")
		w.completes()
		update(clusterNamed(w.prod), func(c *clusterv1.ManagedCluster) { c.Finalizers = []string{"test/keep"} })
		DeferCleanup(func() {
			update(clusterNamed(w.prod), func(c *clusterv1.ManagedCluster) { c.Finalizers = nil })
		})
		Expect(k8s.Delete(bg, clusterNamed(w.prod))).To(Succeed())
		Eventually(func() string { return w.admitted(w.prod) }).WithTimeout(patient).Should(BeEmpty())
	})

	It("collects content that nothing needs any more", func() {
		startManager(func(o *hub.Options) { o.ContentGrace, o.RevisionLimit = 2*time.Second, 1 })
		b := w.bundle()
		b.Spec.Resources = []fleet.BundleResource{{Name: "noise.txt", Content: noise(32 << 10)}}
		Expect(k8s.Create(bg, b)).To(Succeed())
		w.completes()
		name := deployment(w.work(w.dev)).Spec.Content.Name
		Consistently(func() error { return k8s.Get(bg, keyNamed(name), &v1alpha1.Content{}) }).
			WithTimeout(4 * time.Second).Should(Succeed())
		w.deploy("small")
		w.completes()
		Eventually(func() error {
			return client.IgnoreNotFound(k8s.Get(bg, keyNamed(name), &v1alpha1.Content{}))
		}).Should(Succeed())
		Eventually(func() error { return k8s.Get(bg, keyNamed(name), &v1alpha1.Content{}) }).
			WithTimeout(patient).ShouldNot(Succeed())
	})
})

var _ = Describe("A write", func() {
	It("from an old reading of a work is refused, and loses no stamp", func() {
		w := newWorld()
		startManager()
		w.deploy("v1")
		w.completes()
		old := w.work(w.dev)
		body, err := work.StampPatch(rollout.Stamps{AdmittedAt: time.Now()}, old.ResourceVersion)
		Expect(err).NotTo(HaveOccurred())
		update(w.work(w.dev), func(mw *workv1.ManifestWork) { mw.Annotations["test/touched"] = "yes" })
		Expect(k8s.Patch(bg, old, client.RawPatch("application/merge-patch+json", body))).
			To(MatchError(ContainSubstring("the object has been modified")))
		var stamps rollout.Stamps
		Expect(json.Unmarshal([]byte(w.work(w.dev).Annotations[v1alpha1.AnnotationState]), &stamps)).To(Succeed())
		Expect(stamps.DoneAt).NotTo(BeZero())
	})

	It("goes on while others write the same works all the time", func() {
		w := newWorld()
		startManager()
		ctx, stop := context.WithCancel(bg)
		done := make(chan struct{})
		go func() {
			defer close(done)
			tick := time.NewTicker(150 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				for _, c := range []string{w.dev, w.stg, w.prod} {
					touch(ctx, client.ObjectKey{Namespace: c, Name: work.Name(w.key())})
				}
			}
		}()
		DeferCleanup(func() {
			stop()
			<-done
		})
		w.deploy("v1")
		Eventually(func() string { return w.rollout().Status.Reason }).WithTimeout(2 * patient).Should(Equal("Complete"))
		Expect(w.work(w.dev).Generation).To(Equal(int64(1)))
	})
})

// touch writes a work as others do, if it is there.
func touch(ctx context.Context, key client.ObjectKey) {
	mw := &workv1.ManifestWork{}
	if err := k8s.Get(ctx, key, mw); err != nil {
		return
	}
	mw.Annotations["test/noise"] = time.Now().String()
	_ = k8s.Update(ctx, mw) // a conflict is as good
}

// worksIn are the names of the works of bundles in a cluster's namespace.
func worksIn(cluster string) []string {
	var list workv1.ManifestWorkList
	Expect(k8s.List(bg, &list, client.InNamespace(cluster), client.HasLabels{v1alpha1.LabelBundle})).To(Succeed())
	var out []string
	for i := range list.Items {
		out = append(out, list.Items[i].Name)
	}
	return out
}
