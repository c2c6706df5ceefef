package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/cli/publish"
)

// simpleChart is what examples/simple-chart puts on a cluster: a ConfigMap of this name in a namespace of this name.
const simpleChart = "simple-chart"

// everyCluster is the group that a bundle without targets goes to.
func (t *tenant) everyCluster(ctx context.Context) {
	GinkgoHelper()
	group := &fleet.ClusterGroup{ObjectMeta: metav1.ObjectMeta{Namespace: t.namespace, Name: "default"}}
	group.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: environmentLabel, Operator: metav1.LabelSelectorOpExists}}}
	Expect(hub.Create(ctx, group)).To(Succeed())
}

func fleetCLISpecs() {
	It("writes bundles that roll out and that fleetctl takes over", func(ctx context.Context) {
		t := newTenant("fleetcli").gates(0, "None", 0).create(ctx)
		t.everyCluster(ctx)
		their := shell(fleetProgram).on(env.Hub)
		their.copies(simpleChart)
		key := types.NamespacedName{Namespace: t.namespace, Name: "testbundle-" + simpleChart}
		args := []string{"apply", "-n", t.namespace, "testbundle", simpleChart}

		By("Fleet's command line writes a bundle")
		their.run(ctx, args...)
		b, values := written(ctx, key)
		Expect(values.Data).To(Equal(map[string][]byte{"values.yaml": []byte(`{"message":"hello"}`)}), "what Fleet writes")
		awaitSays(ctx, key, "hello")

		By("it changes the values")
		their.replaces(simpleChart+"/fleet.yaml", "message: hello", "message: hello again")
		their.run(ctx, args...)
		awaitSays(ctx, key, "hello again")

		By("fleetctl has nothing to change")
		before, valuesBefore := written(ctx, key)
		Expect(before.Spec.ValuesHash).NotTo(Equal(b.Spec.ValuesHash))
		ours := their.using(ourProgram)
		ours.run(ctx, args...)
		after, valuesAfter := written(ctx, key)
		Expect(after.Generation).To(Equal(before.Generation))
		Expect(managers(after)).NotTo(ContainElement(publish.Manager))
		Expect(valuesAfter.ResourceVersion).To(Equal(valuesBefore.ResourceVersion))

		By("fleetctl changes what Fleet's command line wrote")
		ours.replaces(simpleChart+"/fleet.yaml", "message: hello again", "message: hello from here")
		ours.run(ctx, args...)
		awaitSays(ctx, key, "hello from here")
		after, valuesAfter = written(ctx, key)
		Expect(managers(after)).To(ContainElement(publish.Manager))
		Expect(valuesAfter.UID).To(Equal(valuesBefore.UID))

		By("and the other way round")
		their.replaces(simpleChart+"/fleet.yaml", "message: hello from here", "message: hello for good")
		their.run(ctx, args...)
		awaitSays(ctx, key, "hello for good")
	}, SpecTimeout(4*time.Minute))
}

// written reads a bundle that has its values in a Secret, and that.
func written(ctx context.Context, key types.NamespacedName) (*fleet.Bundle, *corev1.Secret) {
	GinkgoHelper()
	b, s := &fleet.Bundle{}, &corev1.Secret{}
	Expect(hub.Get(ctx, key, b)).To(Succeed())
	Expect(hub.Get(ctx, key, s)).To(Succeed())
	Expect(b.Spec.ValuesHash).NotTo(BeEmpty())
	Expect(b.Spec.Helm.Values).To(BeNil())
	Expect(s.Type).To(Equal(corev1.SecretType("fleet.cattle.io/bundle-values/v1alpha1")))
	Expect(s.OwnerReferences).To(ConsistOf(And(HaveField("Kind", "Bundle"), HaveField("UID", b.UID))))
	return b, s
}

// awaitSays waits until the chart says this on all clusters, and its rollout that it is complete.
func awaitSays(ctx context.Context, key types.NamespacedName, message string) {
	GinkgoHelper()
	for _, name := range every {
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			settings := &corev1.ConfigMap{}
			g.Expect(clusters[name].Get(ctx, types.NamespacedName{Namespace: simpleChart, Name: simpleChart}, settings)).To(Succeed())
			g.Expect(settings.Data).To(Equal(map[string]string{"message": message}))
		}).WithTimeout(2*patience).Should(Succeed(), "the chart on %s", name)
	}
	awaitComplete(ctx, key, rolloutOf(ctx, Default, key).Status.Revision)
}

// managers are those who own fields of an object.
func managers(o client.Object) []string {
	var names []string
	for _, entry := range o.GetManagedFields() {
		names = append(names, entry.Manager)
	}
	return names
}
