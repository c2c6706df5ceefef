package hub_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// asked waits for a request for a confirmation and returns it.
func (w *world) asked(reason string) v1alpha1.ConfirmationRequest {
	GinkgoHelper()
	var found v1alpha1.ConfirmationRequest
	Eventually(func() []v1alpha1.ConfirmationRequest { return w.rollout().Status.Confirmations }).WithTimeout(patient).
		Should(ContainElement(HaveField("Reason", reason), &found), func() string { return w.rollout().Status.Message })
	return found
}

// confirm plays a person who has seen a request.
func (w *world) confirm(request v1alpha1.ConfirmationRequest) {
	GinkgoHelper()
	update(w.rollout(), func(ro *v1alpha1.Rollout) {
		ro.Spec.Confirmations = append(ro.Spec.Confirmations, v1alpha1.Confirmation{
			Reason: request.Reason, Subject: request.Subject, Revision: ro.Status.Revision, Clusters: request.Clusters,
		})
	})
}

var _ = Describe("A confirmation", func() {
	It("lets a rollout go on whose policy was deleted", func() {
		w := newWorld()
		startManager()
		// Without its ClusterManagementAddOn nobody could tell in which order clusters follow.
		addOn := &addonv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.AddOnName}}
		addOn.Spec.InstallStrategy.Type = addonv1beta1.AddonInstallStrategyManual
		Expect(k8s.Create(bg, addOn)).To(Succeed())
		DeferCleanup(func() { Expect(k8s.Delete(bg, addOn)).To(Succeed()) })
		b := w.bundle()
		b.Spec.Targets = []fleet.BundleTarget{{ClusterSelector: &metav1.LabelSelector{}}}
		b.Spec.Resources = []fleet.BundleResource{{Name: "cm.yaml", Content: "version: v1\n"}}
		Expect(k8s.Create(bg, b)).To(Succeed())
		w.completes()
		before := w.admitted(w.prod)
		Expect(k8s.Delete(bg, policyOf(w))).To(Succeed())
		w.asked("RolloutSourceChanged")
		Expect(w.rollout().Status.Reason).To(Equal("RolloutSourceChanged"))

		By("holding the next version meanwhile")
		w.deploy("v2")
		Consistently(func() []string { return []string{w.admitted(w.prod), w.rollout().Status.Record.Source} }).
			WithTimeout(3 * time.Second).Should(Equal([]string{before, "RolloutPolicy/stages"}))
		request := w.asked("RolloutSourceChanged")

		By("remembering the new source once it is confirmed")
		w.confirm(request)
		Eventually(func() string { return w.admitted(w.prod) }).WithTimeout(patient).ShouldNot(Equal(before))
		w.completes()
		Expect(w.rollout().Status.Record.Source).To(Equal(request.Subject))
		Expect(w.rollout().Status.Confirmations).To(BeEmpty())
	})
})
