package hub_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/hub"
	"open-cluster-management.io/fleet-addon/pkg/revision"
)

// revisions are the bundle's ControllerRevisions, the oldest number first.
func (w *world) revisions() []appsv1.ControllerRevision {
	GinkgoHelper()
	var list appsv1.ControllerRevisionList
	Expect(k8s.List(bg, &list, client.InNamespace(w.namespace), client.MatchingLabels{v1alpha1.LabelBundle: "app"})).To(Succeed())
	slices.SortFunc(list.Items, func(a, b appsv1.ControllerRevision) int { return int(a.Revision - b.Revision) })
	return list.Items
}

// history is "number revision" of each kept revision.
func (w *world) history() []string {
	GinkgoHelper()
	var out []string
	for _, cr := range w.revisions() {
		out = append(out, fmt.Sprintf("%d %s", cr.Revision, revision.Hash(&cr)))
	}
	return out
}

// says changes what the bundle deploys, its values and its commit at once. No other
// test has the same files, which would be the same Content.
func (w *world) says(version string) {
	GinkgoHelper()
	change := func(b *fleet.Bundle) {
		b.Labels = map[string]string{fleet.CommitLabel: "commit-" + version}
		b.Spec.Resources = []fleet.BundleResource{{Name: "cm.yaml", Content: "version: " + version + " of " + w.namespace + "\n"}}
		b.Spec.Helm = &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"password": "secret-" + version}}}
	}
	b := w.bundle()
	if k8s.Get(bg, w.key(), b) == nil {
		update(b, change)
		return
	}
	b = w.bundle()
	change(b)
	Expect(k8s.Create(bg, b)).To(Succeed())
}

// rolledOut is the revision that is complete on all clusters; "" while none is.
func (w *world) rolledOut() string {
	if ro := w.rollout(); ro.Status.Reason == "Complete" && ro.Status.Done == "3/3" {
		return ro.Status.Revision
	}
	return ""
}

// becomes waits until another revision than before is complete, and returns it.
func (w *world) becomes(before string) string {
	GinkgoHelper()
	Eventually(w.rolledOut).WithTimeout(patient).ShouldNot(Or(BeEmpty(), Equal(before)), func() string { return w.rollout().Status.Message })
	return w.rolledOut()
}

func (w *world) pin(revision string) {
	GinkgoHelper()
	ro := &v1alpha1.Rollout{}
	ro.Namespace, ro.Name = w.namespace, "app"
	update(ro, func(ro *v1alpha1.Rollout) { ro.Spec.Revision = revision })
}

// on is the revision that a cluster has.
func (w *world) on(cluster string) string {
	if mw := w.work(cluster); mw != nil {
		return mw.Annotations[v1alpha1.AnnotationRevision]
	}
	return ""
}

func contentOf(cr *appsv1.ControllerRevision) string {
	GinkgoHelper()
	kept, err := revision.Read(cr)
	Expect(err).NotTo(HaveOccurred())
	return kept.Content
}

var _ = Describe("A bundle's revision", func() {
	var w *world

	BeforeEach(func() { w = newWorld() })

	It("is kept with its values apart, before a cluster has it", func() {
		w.spokes.set(w.dev, silent)
		startManager()
		w.says("v1")
		Eventually(func() string { return w.admitted(w.dev) }).WithTimeout(patient).ShouldNot(BeEmpty())
		first := w.revisions()
		Expect(first).To(HaveLen(1))
		Expect(revision.Hash(&first[0])).To(Equal(w.on(w.dev)))

		w.spokes.set(w.dev, healthy)
		v1 := w.becomes("")
		w.says("v2")
		v2 := w.becomes(v1)
		w.says("v3")
		v3 := w.becomes(v2)
		Expect(w.history()).To(Equal([]string{"1 " + v1, "2 " + v2, "3 " + v3}))
		for i, cr := range w.revisions() {
			version := fmt.Sprintf("v%d", i+1)
			Expect(cr.Annotations[v1alpha1.AnnotationCommit]).To(Equal("commit-" + version))
			Expect(cr.OwnerReferences).To(ConsistOf(And(HaveField("Kind", "Bundle"), HaveField("UID", w.current().UID))))
			raw, err := json.Marshal(cr)
			Expect(err).NotTo(HaveOccurred())
			Expect(string(raw)).NotTo(ContainSubstring("secret-"))

			secret := &corev1.Secret{}
			Expect(k8s.Get(bg, client.ObjectKey{Namespace: w.namespace, Name: revision.SecretName(cr.Name)}, secret)).To(Succeed())
			Expect(string(secret.Data[revision.SecretKey])).To(ContainSubstring("secret-" + version))
			Expect(*secret.Immutable).To(BeTrue())
			Expect(secret.OwnerReferences).To(ConsistOf(And(HaveField("Kind", "ControllerRevision"), HaveField("UID", cr.UID))))

			files := &v1alpha1.Content{}
			Expect(k8s.Get(bg, keyNamed(contentOf(&cr)), files)).To(Succeed())
			resources, err := content.Unpack(files.Name, files.Content)
			Expect(err).NotTo(HaveOccurred())
			Expect(resources[0].Content).To(ContainSubstring(version))
		}

		By("giving one that comes back the newest number")
		w.says("v1")
		Expect(w.becomes(v3)).To(Equal(v1))
		Expect(w.history()).To(Equal([]string{"2 " + v2, "3 " + v3, "4 " + v1}))
	})

	It("that is pinned goes through the gates, and stays until the pin is taken away", func() {
		startManager()
		w.says("v1")
		v1, idOf := w.becomes(""), w.id(w.prod)
		w.says("v2")
		v2 := w.becomes(v1)

		By("going back group by group")
		w.spokes.set(w.dev, silent)
		w.pin(v1)
		Eventually(func() string { return w.on(w.dev) }).WithTimeout(patient).Should(Equal(v1))
		Consistently(func() string { return w.on(w.stg) }).WithTimeout(2 * time.Second).Should(Equal(v2))
		w.spokes.set(w.dev, healthy)
		Expect(w.becomes(v2)).To(Equal(v1))
		Expect(w.id(w.prod)).To(Equal(idOf))
		ro := w.rollout()
		Expect(ro.Status.BundleRevision).To(Equal(v2))
		Expect(meta.IsStatusConditionTrue(ro.Status.Conditions, v1alpha1.RolloutPinned)).To(BeTrue())

		By("holding against the next commit, which is kept all the same")
		w.says("v3")
		Eventually(w.history).WithTimeout(patient).Should(HaveLen(3))
		Eventually(func() string { return w.rollout().Status.BundleRevision }).WithTimeout(patient).ShouldNot(Equal(v2))
		Consistently(func() []string { return []string{w.on(w.dev), w.on(w.stg), w.on(w.prod)} }).
			WithTimeout(3 * time.Second).Should(Equal([]string{v1, v1, v1}))

		By("going on once the pin is taken away")
		w.pin("")
		v3 := w.becomes(v1)
		Expect(w.history()).To(Equal([]string{"1 " + v1, "2 " + v2, "3 " + v3}))
		Expect(meta.IsStatusConditionFalse(w.rollout().Status.Conditions, v1alpha1.RolloutPinned)).To(BeTrue())
	})

	It("that is pinned and not kept holds everything", func() {
		startManager()
		w.says("v1")
		v1 := w.becomes("")
		w.pin("nosuch")
		Eventually(func() string { return w.rollout().Status.Reason }).WithTimeout(patient).Should(Equal("RevisionNotFound"))
		Expect(w.rollout().Status.Message).To(And(ContainSubstring("nosuch"), ContainSubstring(v1)))
		w.says("v2")
		Consistently(func() string { return w.on(w.dev) }).WithTimeout(3 * time.Second).Should(Equal(v1))
		w.pin("")
		w.becomes(v1)
	})

	It("whose values or files are gone holds everything until they are back", func() {
		startManager()
		w.says("v1")
		v1 := w.becomes("")
		w.says("v2")
		v2 := w.becomes(v1)
		name := revision.SecretName(w.revisions()[0].Name)
		secret := &corev1.Secret{}
		Expect(k8s.Get(bg, client.ObjectKey{Namespace: w.namespace, Name: name}, secret)).To(Succeed())
		Expect(k8s.Delete(bg, secret.DeepCopy())).To(Succeed())
		w.pin(v1)
		Eventually(func() string { return w.rollout().Status.Message }).WithTimeout(patient).Should(ContainSubstring("Secret " + w.namespace + "/" + name))
		Expect(w.on(w.dev)).To(Equal(v2))
		secret.ResourceVersion, secret.UID = "", ""
		Expect(k8s.Create(bg, secret)).To(Succeed())
		Expect(w.becomes(v2)).To(Equal(v1))
	})

	It("that was completed last is what a new cluster of a closed group gets", func() {
		startManager()
		w.says("v1")
		v1 := w.becomes("")
		w.spokes.set(w.dev, notReady)
		w.says("v2")
		Eventually(func() string { return w.on(w.dev) }).WithTimeout(patient).ShouldNot(Equal(v1))
		v2 := w.on(w.dev)

		late := w.prod + "-late"
		join(w.set, late, "prod")
		startSpokes(late)
		DeferCleanup(func() {
			Expect(k8s.DeleteAllOf(bg, &workv1.ManifestWork{}, client.InNamespace(late))).To(Succeed())
		})
		decide(w.namespace, "stages", group{"dev", []string{w.dev}}, group{"stg", []string{w.stg}}, group{"prod", []string{w.prod, late}})
		Eventually(func() string { return w.on(late) }).WithTimeout(patient).Should(Equal(v1))
		Expect(w.id(late)).To(Equal(w.id(w.prod)))
		Expect(string(w.work(late).Spec.Workload.Manifests[0].Raw)).To(Equal(string(w.work(w.prod).Spec.Workload.Manifests[0].Raw)))
		Consistently(func() string { return w.on(late) }).WithTimeout(2 * time.Second).Should(Equal(v1))

		By("admitting it like the others once its group opens")
		w.spokes.set(w.dev, healthy)
		Eventually(func() []string { return []string{w.on(w.prod), w.on(late)} }).WithTimeout(patient).Should(Equal([]string{v2, v2}))
	})

	It("is dropped over the limit, the oldest first, and its files after it", func() {
		startManager(func(o *hub.Options) { o.RevisionLimit, o.ContentGrace = 2, time.Second })
		w.says("v1")
		v1 := w.becomes("")
		files := contentOf(&w.revisions()[0])
		w.says("v2")
		v2 := w.becomes(v1)
		second := contentOf(&w.revisions()[1])
		Consistently(func() error { return k8s.Get(bg, keyNamed(files), &v1alpha1.Content{}) }).WithTimeout(3 * time.Second).Should(Succeed())
		w.says("v3")
		v3 := w.becomes(v2)
		Eventually(w.history).WithTimeout(patient).Should(Equal([]string{"2 " + v2, "3 " + v3}))
		Eventually(func() error { return k8s.Get(bg, keyNamed(files), &v1alpha1.Content{}) }).WithTimeout(patient).ShouldNot(Succeed())
		Expect(k8s.Get(bg, keyNamed(second), &v1alpha1.Content{})).To(Succeed())

		By("keeping what is pinned, and what clusters have, whatever its number")
		w.pin(v2)
		Expect(w.becomes(v3)).To(Equal(v2))
		for _, version := range []string{"v4", "v5", "v6"} {
			before := w.rollout().Status.BundleRevision
			w.says(version)
			Eventually(func() string { return w.rollout().Status.BundleRevision }).WithTimeout(patient).ShouldNot(Equal(before))
		}
		Eventually(w.history).WithTimeout(patient).Should(HaveLen(2))
		Expect(strings.Join(w.history(), ",")).To(ContainSubstring("2 " + v2))
	})
})
