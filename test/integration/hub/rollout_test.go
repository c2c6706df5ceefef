package hub_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

var _ = Describe("A rollout", func() {
	var w *world

	BeforeEach(func() { w = newWorld() })

	It("goes from group to group, each after the soak of the one before", func() {
		w.spokes.set(w.dev, silent)
		startManager()
		w.deploy("v1")

		By("admitting dev alone, recorded in the Rollout before")
		Eventually(func() string { return w.admitted(w.dev) }).WithTimeout(patient).ShouldNot(BeEmpty())
		record := w.rollout().Status.Record
		Expect(record.Groups).To(ContainElement(HaveField("OpenedAt", Not(BeNil()))))
		Expect(w.work(w.dev).CreationTimestamp.Time).NotTo(BeTemporally("<", opened(record, "dev").Truncate(time.Second)))
		Consistently(func() []string { return []string{w.admitted(w.stg), w.admitted(w.prod)} }).
			WithTimeout(2 * time.Second).Should(Equal([]string{"", ""}))
		Expect(condition(w.current(), "Ready")).To(HavePrefix("False "))

		By("going on by itself once dev is ready")
		w.spokes.set(w.dev, healthy)
		w.completes()
		record = w.rollout().Status.Record
		Expect(opened(record, "stg").Sub(opened(record, "dev"))).To(BeNumerically(">=", soak))
		Expect(opened(record, "prod").Sub(opened(record, "stg"))).To(BeNumerically(">=", soak))
		Expect(condition(w.current(), "Ready")).To(HavePrefix("True Complete: "))
		Expect(w.current().Status.PartitionStatus).To(HaveLen(3))

		By("taking the same way with version 2, with new admissions")
		before := map[string]string{w.dev: w.admitted(w.dev), w.stg: w.admitted(w.stg), w.prod: w.admitted(w.prod)}
		w.spokes.set(w.dev, notReady)
		w.deploy("v2")
		Eventually(func() string { return w.admitted(w.dev) }).WithTimeout(patient).ShouldNot(Equal(before[w.dev]))
		Consistently(func() []string { return []string{w.admitted(w.stg), w.admitted(w.prod)} }).
			WithTimeout(3 * time.Second).Should(Equal([]string{before[w.stg], before[w.prod]}))
		Eventually(func() string { return w.rollout().Status.CurrentGroup }).Should(Equal("stages/dev"))
		Expect(w.current().Status.Summary.OutOfSync).To(Equal(2))

		By("repairing with version 3")
		w.spokes.set(w.dev, healthy)
		w.deploy("v3")
		w.completes()
		Expect(w.id(w.dev)).To(Equal(w.id(w.prod)))
	})

	It("continues after a restart of the manager at any moment, in the same order", func() {
		manager := startManager()
		w.deploy("v1")
		var restarts int
		deadline := time.Now().Add(patient)
		for w.admitted(w.prod) == "" && time.Now().Before(deadline) {
			Eventually(time.After(700 * time.Millisecond)).Should(Receive())
			manager.stop()
			restarts++
			manager = startManager()
			Eventually(time.After(settle + 1500*time.Millisecond)).WithTimeout(patient).Should(Receive())
		}
		Expect(restarts).To(BeNumerically(">=", 2))
		w.completes()
		record := w.rollout().Status.Record
		Expect(opened(record, "stg").Sub(opened(record, "dev"))).To(BeNumerically(">=", soak))
		Expect(opened(record, "prod").Sub(opened(record, "stg"))).To(BeNumerically(">=", soak))
		for _, c := range []string{w.dev, w.stg, w.prod} {
			Expect(w.work(c).Generation).To(Equal(int64(1)), "one spec write for cluster %s", c)
		}
	})

	It("writes nothing once it is complete", func() {
		manager := startManager()
		w.deploy("v1")
		w.completes()
		mine := []string{w.namespace, w.dev, w.stg, w.prod}
		// The last status is written up to a second later.
		Eventually(func(g Gomega) {
			n := len(manager.writes.all(mine...))
			g.Consistently(func() []string { return manager.writes.all(mine...)[n:] }).
				WithTimeout(2 * time.Second).Should(BeEmpty())
		}).WithTimeout(patient).Should(Succeed())
		n := len(manager.writes.all(mine...))
		Consistently(func() []string { return manager.writes.all(mine...)[n:] }).WithTimeout(5 * time.Second).Should(BeEmpty())

		By("not after a restart either")
		manager.stop()
		manager = startManager()
		Consistently(func() []string { return manager.writes.all(mine...) }).WithTimeout(5 * time.Second).Should(BeEmpty())
	})

	It("holds while its Placement is missing, and says so", func() {
		startManager()
		update(policyOf(w), func(p *v1alpha1.RolloutPolicy) { p.Spec.PlacementRefs[0].Name = "nowhere" })
		w.deploy("v1")
		Eventually(func() string { return condition(w.current(), "Ready") }).WithTimeout(patient).
			Should(And(HavePrefix("False PlacementNotFound: "), ContainSubstring("nowhere")))
		Expect(w.rollout().Status.Reason).To(Equal("PlacementNotFound"))
		Eventually(func() []string {
			p := policyOf(w)
			_ = k8s.Get(bg, keyOf(p), p)
			var out []string
			for _, c := range p.Status.Conditions {
				out = append(out, c.Type+" "+string(c.Status)+" "+c.Reason)
			}
			return out
		}).Should(ContainElement("Accepted False PlacementNotFound"))
		Expect(w.admitted(w.dev)).To(BeEmpty())

		By("going on when the policy is repaired")
		update(policyOf(w), func(p *v1alpha1.RolloutPolicy) { p.Spec.PlacementRefs[0].Name = "stages" })
		w.completes()
	})

	It("touches nothing while the bundle cannot be read", func() {
		startManager()
		w.deploy("v1")
		w.completes()
		before := w.work(w.dev).Generation
		update(w.bundle(), func(b *fleet.Bundle) {
			b.Spec.DependsOn = []fleet.BundleRef{{Name: "other"}}
			b.Spec.Resources[0].Content = "changed: true"
		})
		Eventually(func() string { return condition(w.current(), "Ready") }).WithTimeout(patient).
			Should(And(HavePrefix("False BundleInvalid: "), ContainSubstring("spec.dependsOn")))
		Consistently(func() int64 { return w.work(w.dev).Generation }).WithTimeout(2 * time.Second).Should(Equal(before))
		Expect(w.current().Status.Display.ReadyClusters).To(Equal("3/3"), "what was counted before stands")
		Expect(w.rollout().Status.Done).To(Equal("3/3"))
	})

	It("stores large content once, before the works that need it", func() {
		manager := startManager()
		b := w.bundle()
		b.Spec.Resources = []fleet.BundleResource{{Name: "noise.txt", Content: noise(64 << 10)}}
		Expect(k8s.Create(bg, b)).To(Succeed())
		w.completes()
		bd := deployment(w.work(w.dev))
		Expect(bd.Spec.Content.Inline).To(BeEmpty())
		c := &v1alpha1.Content{}
		Expect(k8s.Get(bg, keyNamed(bd.Spec.Content.Name), c)).To(Succeed())
		Expect(c.Size).To(Equal(int64(len(c.Content))))
		Expect(manager.writes.all("/contents")).To(HaveLen(1))
	})
})
