package hub_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub"
)

var _ = Describe("The add-on of a cluster", func() {
	var w *world

	BeforeEach(func() { w = newWorld() })

	gone := func(cluster string) func() bool {
		return func() bool { return apierrors.IsNotFound(k8s.Get(bg, keyOf(addOnOf(cluster)), addOnOf(cluster))) }
	}

	It("stays until the cluster's bundles and what they deployed are gone", func() {
		startManager()
		w.deploy("v1")
		w.completes()
		a := addOnOf(w.dev)
		Expect(k8s.Get(bg, keyOf(a), a)).To(Succeed())
		Expect(a.Finalizers).To(ContainElement(v1alpha1.FinalizerBundles))

		By("waiting for the works")
		w.spokes.set(w.dev, silent)
		Expect(k8s.Delete(bg, a)).To(Succeed())
		Eventually(func() bool { return w.work(w.dev).DeletionTimestamp.IsZero() }).WithTimeout(patient).Should(BeFalse())
		setAddOn(w.dev, v1alpha1.AddOnDrained, metav1.ConditionTrue)
		Consistently(gone(w.dev)).WithTimeout(2 * time.Second).Should(BeFalse())
		setAddOn(w.dev, v1alpha1.AddOnDrained, metav1.ConditionFalse)

		By("waiting for the agent's word")
		w.spokes.set(w.dev, healthy)
		Eventually(func() []string { return worksIn(w.dev) }).WithTimeout(patient).Should(BeEmpty())
		Consistently(gone(w.dev)).WithTimeout(2 * time.Second).Should(BeFalse())
		Expect(worksIn(w.dev)).To(BeEmpty(), "no work comes back while the add-on is going")

		setAddOn(w.dev, v1alpha1.AddOnDrained, metav1.ConditionTrue)
		Eventually(gone(w.dev)).WithTimeout(patient).Should(BeTrue())
		Expect(worksIn(w.stg)).To(HaveLen(1))
	})

	It("goes at once without its bundles when its annotation says so", func() {
		startManager()
		w.deploy("v1")
		w.completes()
		update(addOnOf(w.dev), func(a *addonv1beta1.ManagedClusterAddOn) {
			a.Annotations = map[string]string{v1alpha1.AnnotationKeepBundles: "true"}
		})
		Expect(k8s.Delete(bg, addOnOf(w.dev))).To(Succeed())
		Eventually(gone(w.dev)).WithTimeout(patient).Should(BeTrue())
		Expect(worksIn(w.dev)).To(HaveLen(1))
	})

	It("goes at once when the cluster cannot be reached, and the works stay", func() {
		startManager()
		w.deploy("v1")
		w.completes()
		setAvailable(w.dev, metav1.ConditionUnknown)
		Expect(k8s.Delete(bg, addOnOf(w.dev))).To(Succeed())
		Eventually(gone(w.dev)).WithTimeout(patient).Should(BeTrue())
		Expect(w.work(w.dev).DeletionTimestamp.IsZero()).To(BeTrue())
	})

	It("stays for an agent that has only just been started", func() {
		setAddOn(w.dev, addonv1beta1.ManagedClusterAddOnConditionAvailable, metav1.ConditionUnknown)
		startManager()
		Eventually(func() []string {
			a := addOnOf(w.dev)
			Expect(k8s.Get(bg, keyOf(a), a)).To(Succeed())
			return a.Finalizers
		}).WithTimeout(patient).Should(ContainElement(v1alpha1.FinalizerBundles))
		Expect(k8s.Delete(bg, addOnOf(w.dev))).To(Succeed())
		Consistently(gone(w.dev)).WithTimeout(3 * time.Second).Should(BeFalse())
		setAddOn(w.dev, v1alpha1.AddOnDrained, metav1.ConditionTrue)
		Eventually(gone(w.dev)).WithTimeout(patient).Should(BeTrue())
	})

	It("is not kept for ever by an agent that does not answer", func() {
		startManager(func(o *hub.Options) { o.DrainTimeout = 3 * time.Second })
		w.deploy("v1")
		w.completes()
		w.spokes.set(w.dev, silent)
		Expect(k8s.Delete(bg, addOnOf(w.dev))).To(Succeed())
		Eventually(gone(w.dev)).WithTimeout(patient).Should(BeTrue())
	})

	It("has works tried again that could not be applied before it was ready", func() {
		w.spokes.set(w.dev, refusing)
		setAddOn(w.dev, addonv1beta1.ManagedClusterAddOnConditionAvailable, metav1.ConditionFalse)
		startManager()
		w.deploy("v1")
		Eventually(func() string { return w.admitted(w.dev) }).WithTimeout(patient).ShouldNot(BeEmpty())
		Expect(w.work(w.dev).Labels).NotTo(HaveKey(v1alpha1.LabelAddOnReady))
		setAddOn(w.dev, addonv1beta1.ManagedClusterAddOnConditionAvailable, metav1.ConditionTrue)
		Eventually(func() map[string]string { return w.work(w.dev).Labels }).WithTimeout(patient).
			Should(HaveKey(v1alpha1.LabelAddOnReady))
		w.spokes.set(w.dev, healthy)
		w.completes()
		Expect(w.work(w.dev).Generation).To(Equal(int64(1)))
	})
})
