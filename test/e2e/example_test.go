package e2e

import (
	"context"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/test/example"
)

func exampleSpecs() {
	It("goes through the groups in order, is held by a version that never becomes ready, and is repaired by the next", func(ctx context.Context) {
		base, rest := readExample()
		applyExample(ctx, rest)
		hello := &app{namespace: example.ReleaseNamespace, name: example.ReleaseName}
		key := client.ObjectKeyFromObject(base)
		journal := record(key)
		for _, v := range example.Versions {
			By(v.Name + ": " + v.About)
			revision := applyVersion(ctx, v, base)
			if v.Held {
				expectHeldAtDev(ctx, key, journal, revision)
				continue
			}
			awaitComplete(ctx, key, revision)
			journal.expectOrder(revision, example.Soak, groups...)
			for _, name := range every {
				Expect(hello.runs(ctx, Default, name)).To(Equal(v.Chart), "the chart on %s", name)
			}
		}
		for _, name := range append(stg, prod...) {
			Expect(journal.revisions(name)).To(HaveLen(3), "%s never saw version 3", name)
		}
	}, SpecTimeout(8*time.Minute))
}

// readExample returns the bundle of examples/dev-stg-prod and the objects that it needs.
func readExample() (*unstructured.Unstructured, []*unstructured.Unstructured) {
	GinkgoHelper()
	objects, err := example.Read(filepath.Join("..", "..", "examples", "dev-stg-prod"))
	Expect(err).NotTo(HaveOccurred())
	base, rest, err := example.Split(objects)
	Expect(err).NotTo(HaveOccurred())
	return base, rest
}

// applyExample applies the example as it is, and removes it after the spec.
func applyExample(ctx context.Context, rest []*unstructured.Unstructured) {
	GinkgoHelper()
	for _, o := range rest {
		Expect(hub.Apply(ctx, client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner("e2e"))).To(Succeed())
		if o.GetKind() != "Namespace" {
			continue
		}
		DeferCleanup(func(ctx context.Context) {
			(&tenant{namespace: o.GetName()}).removeBundles(ctx)
			Expect(client.IgnoreNotFound(hub.Delete(ctx, o))).To(Succeed())
		}, NodeTimeout(2*time.Minute))
	}
}

func applyVersion(ctx context.Context, v example.Version, base *unstructured.Unstructured) string {
	GinkgoHelper()
	object, err := v.Of(base)
	Expect(err).NotTo(HaveOccurred())
	Expect(hub.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("e2e"))).To(Succeed())
	b := &fleet.Bundle{}
	Expect(hub.Get(ctx, client.ObjectKeyFromObject(base), b)).To(Succeed())
	return revisionOf(b)
}

// expectHeldAtDev asserts that both clusters of dev time out, that the bundle says so, and that nothing else happens.
func expectHeldAtDev(ctx context.Context, key types.NamespacedName, j *journal, revision string) {
	GinkgoHelper()
	start := time.Now()
	awaitBreach(ctx, key, revision, "dev", v1alpha1.StateCounts{Total: 2, TimedOut: 2})
	Consistently(ctx, func(g Gomega, ctx context.Context) {
		r := rolloutOf(ctx, g, key)
		g.Expect(meta.IsStatusConditionTrue(r.Status.Conditions, v1alpha1.RolloutBreached)).To(BeTrue())
	}).WithTimeout(5 * time.Second).Should(Succeed())
	for _, name := range append(stg, prod...) {
		j.expectUntouched(name, start)
	}
	expectNoWrites(workWrites(start, key, append(stg, prod...)...))
	b := &fleet.Bundle{}
	Expect(hub.Get(ctx, key, b)).To(Succeed())
	message := ""
	for _, c := range b.Status.Conditions {
		if c.Type == "Ready" {
			message = c.Message
			Expect(string(c.Status)).To(Equal("False"))
		}
	}
	Expect(message).To(And(ContainSubstring("dev1"), ContainSubstring("dev2"), ContainSubstring("dev")), "the bundle says what it waits for")
	Expect(message).To(Equal(rolloutOf(ctx, Default, key).Status.Message), "the bundle and its rollout say the same")
}

// awaitBreach waits until a group has more failures than it tolerates.
func awaitBreach(ctx context.Context, key types.NamespacedName, revision, group string, counts v1alpha1.StateCounts) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega, ctx context.Context) {
		r := rolloutOf(ctx, g, key)
		g.Expect(r.Status.Revision).To(Equal(revision))
		g.Expect(meta.IsStatusConditionTrue(r.Status.Conditions, v1alpha1.RolloutBreached)).To(BeTrue(), "%s: %s", r.Status.Reason, r.Status.Message)
		g.Expect(groupOf(r, group).Counts).To(Equal(counts))
		g.Expect(groupOf(r, group).Breached).To(BeTrue())
	}).WithTimeout(2*patience).Should(Succeed(), "%s is held at %s", key, group)
}
