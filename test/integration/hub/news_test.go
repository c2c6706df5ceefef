package hub_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// events about a world's Rollout, as "Reason: note", in any order; one that was seen
// several times stands there several times.
func (w *world) events() []string {
	var list corev1.EventList
	Expect(k8s.List(bg, &list, client.InNamespace(w.namespace))).To(Succeed())
	var out []string
	for _, e := range list.Items {
		if e.InvolvedObject.Kind != "Rollout" || e.InvolvedObject.Name != "app" {
			continue
		}
		times := int32(1)
		if e.Series != nil {
			times = e.Series.Count
		}
		for range times {
			out = append(out, e.Reason+": "+e.Message)
		}
	}
	return out
}

// series are the samples about a world's bundle that /metrics serves.
func (w *world) series() []string {
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	Expect(answer.Code).To(Equal(http.StatusOK))
	var out []string
	for line := range strings.Lines(answer.Body.String()) {
		if strings.HasPrefix(line, "fleet_addon_") && strings.Contains(line, `namespace="`+w.namespace+`"`) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

var _ = Describe("What a rollout tells", func() {
	var w *world

	BeforeEach(func() { w = newWorld() })

	It("is told once for each step, whatever restarts", func() {
		manager := startManager()
		w.deploy("v1")
		w.completes()
		revision := w.rollout().Status.Revision
		want := []string{"Completed: every group passed with revision " + revision + "; 3/3 clusters are done"}
		for _, group := range []string{"dev", "stg", "prod"} {
			want = append(want, "GroupOpened: group stages/"+group+" opened for revision "+revision,
				"GroupPassed: group stages/"+group+" passed with revision "+revision)
		}
		Eventually(w.events).WithTimeout(patient).Should(ConsistOf(want))

		By("saying nothing again after a restart")
		manager.stop()
		manager = startManager()
		Consistently(w.events).WithTimeout(3 * time.Second).Should(ConsistOf(want))

		By("telling a pause and its end")
		pause := func(paused bool) {
			update(w.rollout(), func(ro *v1alpha1.Rollout) { ro.Spec.Paused = paused })
		}
		pause(true)
		want = append(want, "Paused: revision "+revision+": paused by the Rollout")
		Eventually(w.events).WithTimeout(patient).Should(ConsistOf(want))
		manager.stop()
		startManager()
		pause(false)
		want = append(want, "Resumed: revision "+revision+" goes on")
		Eventually(w.events).WithTimeout(patient).Should(ConsistOf(want))
		Consistently(w.events).WithTimeout(2 * time.Second).Should(ConsistOf(want))
	})

	It("has a breach and its end as Events and in the metrics, whose series go with the bundle", func() {
		startManager()
		update(policyOf(w), func(p *v1alpha1.RolloutPolicy) {
			p.Spec.PlacementRefs[0].RolloutStrategy.ProgressivePerGroup.ProgressDeadline = "2s"
		})
		w.spokes.set(w.dev, notReady)
		w.deploy("v1")
		Eventually(func() string { return w.rollout().Status.Reason }).WithTimeout(patient).Should(Equal("FailureBudgetExceeded"))
		bad := w.rollout().Status.Revision
		Eventually(w.events).WithTimeout(patient).Should(ConsistOf(
			Equal("GroupOpened: group stages/dev opened for revision "+bad),
			And(HavePrefix("Breached: group stages/dev: "), ContainSubstring("revision "+bad)),
		))
		labels := `bundle="app",group="dev",lane="stages",namespace="` + w.namespace + `"`
		Eventually(w.series).WithTimeout(patient).Should(ContainElements(
			`fleet_addon_rollout_clusters{`+labels+`,state="TimedOut"} 1`,
			`fleet_addon_rollout_breaches_total{`+labels+`} 1`,
			HavePrefix(`fleet_addon_rollout_held_seconds{bundle="app",namespace="`+w.namespace+`",reason="FailureBudgetExceeded"} `),
			HavePrefix(`fleet_addon_rollout_oldest_unsettled_seconds{bundle="app",namespace="`+w.namespace+`"} `),
		))

		By("ending with a new revision")
		w.spokes.set(w.dev, healthy)
		w.deploy("v2")
		w.completes()
		Eventually(w.events).WithTimeout(patient).Should(ContainElement(
			And(HavePrefix("Recovered: group stages/dev: "), HaveSuffix("breached with revision "+bad))))
		Eventually(w.series).WithTimeout(patient).Should(ContainElements(
			`fleet_addon_rollout_clusters{`+labels+`,state="Done"} 1`,
			`fleet_addon_rollout_breaches_total{`+labels+`} 1`,
		))

		By("forgetting a bundle that is deleted")
		Expect(k8s.Delete(bg, w.bundle())).To(Succeed())
		Eventually(w.series).WithTimeout(patient).Should(BeEmpty())
	})

	It("is in its policy's status: which bundles it governs, and which two policies fight for", func() {
		startManager()
		w.deploy("v1")
		status := func() v1alpha1.RolloutPolicyStatus {
			p := policyOf(w)
			Expect(k8s.Get(bg, keyOf(p), p)).To(Succeed())
			return p.Status
		}
		exclusive := func() string {
			for _, c := range status().Conditions {
				if c.Type == v1alpha1.RolloutPolicyExclusive {
					return string(c.Status) + " " + c.Reason + ": " + c.Message
				}
			}
			return ""
		}
		Eventually(func() []string { return status().Bundles }).WithTimeout(patient).Should(ConsistOf("app"))
		Expect(status().BundleCount).To(Equal(int32(1)))
		Eventually(exclusive).Should(HavePrefix("True "))

		By("a second policy that selects the bundle too")
		second := policyOf(w)
		Expect(k8s.Get(bg, keyOf(second), second)).To(Succeed())
		second.ObjectMeta = metav1.ObjectMeta{Namespace: w.namespace, Name: "more"}
		Expect(k8s.Create(bg, second)).To(Succeed())
		Eventually(exclusive).WithTimeout(patient).Should(HavePrefix("False PolicyConflict: Bundle app is selected by the RolloutPolicies more and stages: "))
		Eventually(func() []string { return status().Bundles }).Should(BeEmpty())

		By("the bundle's label deciding it")
		update(w.bundle(), func(b *fleet.Bundle) { b.Labels = map[string]string{v1alpha1.LabelRolloutPolicy: "stages"} })
		Eventually(exclusive).WithTimeout(patient).Should(HavePrefix("True "))
		Eventually(func() []string { return status().Bundles }).Should(ConsistOf("app"))
	})
})
