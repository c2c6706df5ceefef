package hub_test

import (
	"encoding/json"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/values"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

// canary is a value that nobody but Secrets may have.
const canary = "canary-of-the-values"

// secretly changes what the bundle app deploys, with values that stand in its Secret.
// The Secret is returned and not written.
func (w *world) secretly(version string) *corev1.Secret {
	GinkgoHelper()
	b := w.bundle()
	b.Spec.Resources = []fleet.BundleResource{{Name: "cm.yaml", Content: "version: " + version + " of " + w.namespace + "\n"}}
	value := func(of string) *fleet.HelmOptions {
		return &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"password": canary + "-" + of + "-" + version}}}
	}
	b.Spec.Helm = value("all")
	b.Spec.Targets = []fleet.BundleTarget{
		{Name: "prod", ClusterName: w.prod, BundleDeploymentOptions: fleet.BundleDeploymentOptions{Helm: value("prod")}},
		{Name: "others", ClusterSelector: &metav1.LabelSelector{}},
	}
	data, err := values.Take(b)
	Expect(err).NotTo(HaveOccurred())
	live := w.bundle()
	if k8s.Get(bg, w.key(), live) == nil {
		update(live, func(live *fleet.Bundle) { live.Spec = b.Spec })
	} else {
		Expect(k8s.Create(bg, b)).To(Succeed())
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "app"}, Type: values.SecretType, Data: data,
	}
}

// putSecret writes the bundle's Secret, whatever is there.
func putSecret(s *corev1.Secret) {
	GinkgoHelper()
	live := &corev1.Secret{}
	if k8s.Get(bg, keyOf(s), live) == nil {
		live.Data = s.Data
		Expect(k8s.Update(bg, live)).To(Succeed())
		return
	}
	Expect(k8s.Create(bg, s.DeepCopy())).To(Succeed())
}

// holdsFor waits until the rollout is held for a reason, and returns its sentence.
func (w *world) holdsFor(reason string) string {
	GinkgoHelper()
	Eventually(func() string { return w.rollout().Status.Reason }).WithTimeout(patient).Should(Equal(reason),
		func() string { return w.rollout().Status.Message })
	return w.rollout().Status.Message
}

// valuesOn are the values that a cluster gets with the bundle app.
func (w *world) valuesOn(cluster string) string {
	GinkgoHelper()
	return w.valuesOf(w.bundle(), cluster)
}

// valuesOf are the values that a cluster gets with a bundle; "" while it has no work.
func (w *world) valuesOf(b *fleet.Bundle, cluster string) string {
	GinkgoHelper()
	mw := &workv1.ManifestWork{}
	if err := k8s.Get(bg, client.ObjectKey{Namespace: cluster, Name: work.Name(keyOf(b))}, mw); err != nil {
		Expect(client.IgnoreNotFound(err)).To(Succeed())
		return ""
	}
	secret := &corev1.Secret{}
	Expect(json.Unmarshal(mw.Spec.Workload.Manifests[0].Raw, secret)).To(Succeed())
	Expect(secret.Kind).To(Equal("Secret"))
	return string(secret.Data["values.yaml"])
}

// leaks are the objects that hold the canary in clear and are no Secret.
func (w *world) leaks() []string {
	GinkgoHelper()
	var out []string
	look := func(name string, o any) {
		raw, err := json.Marshal(o)
		Expect(err).NotTo(HaveOccurred())
		if strings.Contains(string(raw), canary) {
			out = append(out, name)
		}
	}
	// What people write in a Bundle is their own.
	look("Bundle", w.current().Status)
	look("Rollout", w.rollout())
	for _, cr := range w.revisions() {
		look(cr.Name, &cr)
	}
	for _, cluster := range []string{w.dev, w.stg, w.prod} {
		mw := w.work(cluster)
		if mw == nil {
			continue
		}
		kept := mw.Spec.Workload.Manifests[:0:0]
		for _, m := range mw.Spec.Workload.Manifests {
			var meta metav1.TypeMeta
			Expect(json.Unmarshal(m.Raw, &meta)).To(Succeed())
			if meta.Kind != "Secret" {
				kept = append(kept, m)
				look(cluster+"/"+meta.Kind, string(m.Raw))
			}
		}
		Expect(kept).To(HaveLen(1))
		mw.Spec.Workload.Manifests = kept
		look(cluster, mw)
	}
	return out
}

var _ = Describe("Values in a Secret", func() {
	It("are waited for, and what clusters have stays until they are there", func() {
		w, other := newWorld(), newWorld()
		manager := startManager()
		secret := w.secretly("v1")

		By("a bundle whose Secret comes later")
		Expect(w.holdsFor("ValuesMissing")).To(ContainSubstring("Secret " + w.namespace + "/app does not exist"))
		Expect(w.admitted(w.dev)).To(BeEmpty())
		putSecret(secret)
		v1 := w.becomes("")
		Expect(w.valuesOn(w.dev)).To(ContainSubstring(canary + "-all-v1"))
		Expect(w.valuesOn(w.prod)).To(ContainSubstring(canary + "-prod-v1"))
		Expect(w.leaks()).To(BeEmpty())

		By("a Secret that still has the values from before")
		secret = w.secretly("v2")
		Expect(w.holdsFor("ValuesMissing")).To(And(
			ContainSubstring("Secret "+w.namespace+"/app with the keys prod, values.yaml does not hold the values"), Not(ContainSubstring(canary))))
		Expect(w.rollout().Status.BundleRevision).To(Equal(v1))
		ids := []string{w.id(w.dev), w.id(w.stg), w.id(w.prod)}
		Consistently(func() []string { return []string{w.id(w.dev), w.id(w.stg), w.id(w.prod)} }).WithTimeout(time.Second).Should(Equal(ids))

		By("a manager that starts meanwhile, without any Secret")
		Expect(k8s.Delete(bg, secret)).To(Succeed())
		manager.stop()
		manager = startManager()
		other.deploy("v1")
		other.completes()
		Expect(w.holdsFor("ValuesMissing")).To(ContainSubstring("does not exist"))
		Consistently(func() []string { return []string{w.id(w.dev), w.id(w.stg), w.id(w.prod)} }).WithTimeout(grace + 2*settle).Should(Equal(ids))
		Expect(manager.writes.all("/controllerrevisions", "/secrets", "/namespaces/"+w.dev, "/namespaces/"+w.stg, "/namespaces/"+w.prod)).
			NotTo(ContainElement(ContainSubstring(w.namespace)))
		secret.ResourceVersion, secret.UID = "", ""
		putSecret(secret)
		v2 := w.becomes(v1)
		Expect(w.valuesOn(w.prod)).To(ContainSubstring(canary + "-prod-v2"))

		By("going back to values that the Secret does not have any more")
		w.pin(v1)
		Expect(w.becomes(v2)).To(Equal(v1))
		Expect(w.valuesOn(w.prod)).To(ContainSubstring(canary + "-prod-v1"))
		Expect(w.leaks()).To(BeEmpty())

		By("a Secret that is deleted once it was read")
		w.pin("")
		Expect(w.becomes(v1)).To(Equal(v2))
		Expect(k8s.Delete(bg, secret)).To(Succeed())
		update(policyOf(w), func(p *v1alpha1.RolloutPolicy) { p.Labels = map[string]string{"look": "again"} })
		Consistently(func() string { return w.rollout().Status.Reason }).WithTimeout(time.Second).Should(Equal("Complete"))
	})

	It("make the same revision as values in the bundle", func() {
		w := newWorld()
		startManager()
		putSecret(w.secretly("v1"))
		v1 := w.becomes("")
		inline := w.current()
		secret := &corev1.Secret{}
		Expect(k8s.Get(bg, w.key(), secret)).To(Succeed())
		Expect(values.Put(inline, secret.Data)).To(Succeed())
		admitted := w.admitted(w.dev)
		update(w.bundle(), func(b *fleet.Bundle) {
			b.Spec = inline.Spec
			b.Spec.ValuesHash = ""
		})
		Eventually(func() int64 { return w.current().Status.ObservedGeneration }).WithTimeout(patient).Should(Equal(w.current().Generation))
		Expect(w.rolledOut()).To(Equal(v1))
		Expect(w.admitted(w.dev)).To(Equal(admitted))
		Expect(w.history()).To(HaveLen(1))
	})
})
