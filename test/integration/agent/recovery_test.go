package agent_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	helmrelease "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

var _ = Describe("recovery", func() {
	It("gets over an agent that was killed in an upgrade, and removes what that had made", func() {
		b := newBundle(home, "upgrade").pack(files("a.yaml", configMap("a", "one"))).admit()
		b.ready()
		home.stop()
		b.interrupted(helmrelease.StatusPendingUpgrade, "leftover")
		b.pack(files("a.yaml", configMap("a", "two"))).admit()
		home.start()
		b.ready()
		Expect(b.value("a")).To(Equal("two"))
		Expect(b.object("leftover")).To(BeNil())
		Expect(b.history()).To(Equal([]string{"1 superseded", "2 failed", "3 deployed"}))
	})

	It("gets over an agent that was killed in an install, without an uninstall", func() {
		b := newBundle(home, "install").pack(files("a.yaml", configMap("a", "one"))).admit()
		b.ready()
		uid := b.object("a").UID
		home.stop()
		b.interrupted(helmrelease.StatusPendingInstall, "")
		home.start()
		Eventually(b.history).Should(Equal([]string{"1 superseded", "2 deployed"}))
		b.ready()
		Expect(b.object("a").UID).To(Equal(uid))
	})

	It("ends an uninstall that was cut off, and installs again", func() {
		b := newBundle(home, "uninstall").pack(files("a.yaml", configMap("a", "one"))).admit()
		b.ready()
		home.stop()
		last, err := b.helm().Last(b.name)
		Expect(err).NotTo(HaveOccurred())
		last.Info.Status = helmrelease.StatusUninstalling
		Expect(b.helm().Update(last)).To(Succeed())
		home.start()
		Eventually(b.history).Should(Equal([]string{"1 deployed"}))
		b.ready()
		Expect(b.value("a")).To(Equal("one"))
	})

	It("takes over a release from an agent in another namespace, once that has no use for it", func() {
		b := newBundle(home, "moved").pack(files("a.yaml", configMap("a", "one"))).admit()
		b.ready()
		home.stop()
		elsewhere := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.name + "-elsewhere"}}
		Expect(c.Create(ctx, elsewhere)).To(Succeed())
		other := &v1alpha1.BundleDeployment{ObjectMeta: metav1.ObjectMeta{Name: b.name, Namespace: elsewhere.Name}, Spec: b.spec}
		Expect(c.Create(ctx, other)).To(Succeed())
		last, err := b.helm().Last(b.name)
		Expect(err).NotTo(HaveOccurred())
		last.Labels["fleet.open-cluster-management.io/agent-namespace"] = elsewhere.Name
		Expect(b.helm().Update(last)).To(Succeed())

		home.start()
		b.pack(files("a.yaml", configMap("a", "two"))).admit()
		Eventually(b.verdict).Should(Equal("ErrApplied"))
		Expect(b.status().Message).To(ContainSubstring("belongs to BundleDeployment %s/%s", elsewhere.Name, b.name))
		Expect(b.value("a")).To(Equal("one"))
		Expect(c.Delete(ctx, other)).To(Succeed())
		b.ready()
		Expect(b.value("a")).To(Equal("two"))
		Expect(b.history()).To(Equal([]string{"1 superseded", "2 deployed"}))
		b.remove()
		Eventually(b.history).Should(BeEmpty())
	})

	It("converges when it is killed at random moments", func() {
		b := newBundle(home, "kills").pack(files("a.yaml", configMap("a", "0"), "b0.yaml", configMap("b0", "x"))).admit()
		b.ready()
		for i := 1; i <= 6; i++ {
			b.pack(files("a.yaml", configMap("a", fmt.Sprint(i)), fmt.Sprintf("b%d.yaml", i), configMap(fmt.Sprintf("b%d", i), "x"))).admit()
			// Whatever it is doing then: the moment is the point.
			<-time.After(time.Duration(rand.IntN(400)) * time.Millisecond)
			home.kill()
			home.start()
			if i%2 == 0 {
				b.ready()
				Expect(b.value("a")).To(Equal(fmt.Sprint(i)))
			}
		}
		for i := range 6 {
			Eventually(func() bool { return b.object(fmt.Sprintf("b%d", i)) == nil }).Should(BeTrue(), "object of version %d stayed", i)
		}
	})
})

var _ = Describe("removal", func() {
	It("uninstalls a release when its BundleDeployment goes", func() {
		b := newBundle(home, "remove").pack(files("a.yaml", configMap("a", "one"))).admit()
		b.ready()
		b.remove()
		Eventually(b.history).Should(BeEmpty())
		Expect(b.object("a")).To(BeNil())
	})

	It("leaves nothing of a release whose last upgrade failed or was cut off", func() {
		immutable := func(v string) string { return configMap("a", v) + "immutable: true\n" }
		failed := newBundle(home, "failed").pack(files("a.yaml", immutable("one"), "b.yaml", configMap("b", "one"))).admit()
		failed.ready()
		failed.pack(files("a.yaml", immutable("two"), "c.yaml", configMap("c", "two"))).admit()
		Eventually(func() bool { return failed.status().Terminal }).Should(BeTrue())
		Expect(failed.value("b")).To(Equal("one"))
		failed.remove()
		Eventually(failed.history).Should(BeEmpty())
		for _, name := range []string{"a", "b", "c"} {
			Expect(failed.object(name)).To(BeNil(), name)
		}

		cut := newBundle(home, "cut").pack(files("a.yaml", configMap("a", "one"))).admit()
		cut.ready()
		home.stop()
		cut.interrupted(helmrelease.StatusPendingUpgrade, "leftover")
		last, err := cut.helm().Last(cut.name)
		Expect(err).NotTo(HaveOccurred())
		last.Manifest = "---\n" + configMap("leftover", "left")
		Expect(cut.helm().Update(last)).To(Succeed())
		cut.remove()
		home.start()
		Eventually(cut.history).Should(BeEmpty())
		Expect(cut.object("a")).To(BeNil())
		Expect(cut.object("leftover")).To(BeNil())
	})

	It("finds orphans at the start, and keeps what is to be kept", func() {
		gone := newBundle(home, "orphan").pack(files("a.yaml", configMap("a", "one"))).admit()
		kept := newBundle(home, "kept").pack(files("a.yaml", configMap("a", "one"))).admit()
		gone.ready()
		kept.ready()
		kept.refresh(func(s *v1alpha1.BundleDeploymentSpec) { s.Options.KeepResources = true })
		Eventually(func() string {
			last, err := kept.helm().Last(kept.name)
			Expect(err).NotTo(HaveOccurred())
			return last.Labels["fleet.open-cluster-management.io/keep"]
		}).Should(Equal("true"))
		Expect(kept.history()).To(Equal([]string{"1 deployed"}))
		Expect(kept.verdict()).To(Equal("Ready"))
		home.stop()
		gone.remove()
		kept.remove()
		home.start()
		Eventually(gone.history).Should(BeEmpty())
		Expect(gone.object("a")).To(BeNil())
		Eventually(kept.history).Should(BeEmpty())
		Expect(kept.value("a")).To(Equal("one"))
	})

	It("reports, renews its lease, installs nothing once it is to go, and says when it is drained", func() {
		s := newSite("drain")
		s.start()
		DeferCleanup(s.stop)
		Eventually(func() bool { return s.leaseTime().IsZero() }).Should(BeFalse())
		b := newBundle(s, "last").pack(files("a.yaml", configMap("a", "one"))).admit()
		b.ready()
		Eventually(func() string { return s.condition("BundlesReady") }).Should(Equal("True AllReady"))
		Eventually(func() string { return s.condition("Degraded") }).Should(Equal("False NoBundleFailed"))
		Expect(s.condition("Drained")).To(BeEmpty())

		Expect(c.Delete(ctx, s.addOn())).To(Succeed())
		Eventually(func() string { return s.condition("Drained") }).Should(Equal("False BundlesRemain"))
		late := newBundle(s, "late").pack(files("a.yaml", configMap("a", "one"))).admit()
		Eventually(late.verdict).Should(Equal("WaitApplied"))
		Expect(late.status().Message).To(ContainSubstring("being removed"))
		late.remove()
		b.remove()
		Eventually(func() string { return s.condition("Drained") }).Should(Equal("True Drained"))
		Expect(b.history()).To(BeEmpty())
		Expect(late.history()).To(BeEmpty())
	})

	It("is not drained while an install is under way that has made no release yet", func() {
		s := newSite("racing")
		s.start()
		DeferCleanup(s.stop)
		// Rendered for as long as the spec wants.
		slow := fmt.Sprintf("{{- range until 1000000 }}{{ if lookup `v1` `ConfigMap` %q `go` }}{{ break }}{{ end }}{{ end }}\n", s.namespace)
		b := newBundle(s, "racing").pack(files("Chart.yaml", chartYAML, "templates/a.yaml", slow+configMap("a", "one"))).admit()
		Eventually(func() string { return s.condition("BundlesReady") }).Should(Equal("False BundlesNotReady"))
		Consistently(b.history).WithTimeout(time.Second).Should(BeEmpty())
		Expect(c.Delete(ctx, s.addOn())).To(Succeed())
		b.remove()
		Eventually(func() string { return s.condition("Drained") }).Should(Equal("False BundlesRemain"))
		// Longer than after which the agent looks again.
		Consistently(func() string { return s.condition("Drained") }).WithTimeout(7 * time.Second).Should(Equal("False BundlesRemain"))
		Expect(c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "go", Namespace: s.namespace}})).To(Succeed())
		Eventually(func() string { return s.condition("Drained") }).Should(Equal("True Drained"))
		Expect(b.history()).To(BeEmpty())
		Expect(b.object("a")).To(BeNil())
	})

	It("uninstalls nothing before the hub was read, nor when its bundles are to stay", func() {
		s := newSite("keep")
		there := s.hubConfig
		s.start()
		b := newBundle(s, "stays").pack(files("a.yaml", configMap("a", "one"))).admit()
		b.ready()
		s.stop()
		s.hubConfig = there + "-missing"
		b.remove()
		s.start()
		Consistently(b.history).WithTimeout(4 * time.Second).Should(Equal([]string{"1 deployed"}))
		addOn := s.addOn()
		before := addOn.DeepCopy()
		addOn.Annotations = map[string]string{v1alpha1.AnnotationKeepBundles: "true"}
		Expect(c.Patch(ctx, addOn, client.MergeFrom(before))).To(Succeed())
		// The kubeconfig comes late; the agent finds it without a restart.
		Expect(os.Rename(there, s.hubConfig)).To(Succeed())
		Eventually(func() string { return s.condition("BundlesReady") }).Should(Equal("True AllReady"))
		Consistently(b.history).Should(Equal([]string{"1 deployed"}))
		before = s.addOn()
		addOn = before.DeepCopy()
		addOn.Annotations = nil
		Expect(c.Patch(ctx, addOn, client.MergeFrom(before))).To(Succeed())
		Eventually(b.history).Should(BeEmpty())
		s.stop()
	})
})
