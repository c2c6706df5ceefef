package hub_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"open-cluster-management.io/addon-framework/pkg/utils"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/variables"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

// edge is an AddOnDeploymentConfig of the world's namespace with one variable, as it is
// in the API now.
func (w *world) edge(region string) *unstructured.Unstructured {
	GinkgoHelper()
	config := &addonv1beta1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "edge"}}
	spec := addonv1beta1.AddOnDeploymentConfigSpec{CustomizedVariables: []addonv1beta1.CustomizedVariable{{Name: "region", Value: region}}}
	if k8s.Get(bg, keyOf(config), config) == nil {
		update(config, func(c *addonv1beta1.AddOnDeploymentConfig) { c.Spec = spec })
	} else {
		config.Spec = spec
		Expect(k8s.Create(bg, config)).To(Succeed())
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(variables.Kind)
	Expect(k8s.Get(bg, keyOf(config), u)).To(Succeed())
	return u
}

// configure plays OCM's rollout of a config: it is a cluster's turn.
func configure(cluster string, config *unstructured.Unstructured) {
	GinkgoHelper()
	hash, err := utils.GetSpecHash(config)
	Expect(err).NotTo(HaveOccurred())
	update(addOnOf(cluster), func(a *addonv1beta1.ManagedClusterAddOn) {
		a.Status.ConfigReferences = []addonv1beta1.ConfigReference{{
			ConfigGroupResource: addonv1beta1.ConfigGroupResource{Group: variables.Kind.Group, Resource: "addondeploymentconfigs"},
			DesiredConfig: &addonv1beta1.ConfigSpecHash{
				ConfigReferent: addonv1beta1.ConfigReferent{Namespace: config.GetNamespace(), Name: config.GetName()}, SpecHash: hash,
			},
		}}
	}, inStatus)
}

func claims(cluster, id string) {
	GinkgoHelper()
	update(clusterNamed(cluster), func(c *clusterv1.ManagedCluster) {
		c.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "id", Value: id}}
	}, inStatus)
}

func annotateValues(cluster, text string) {
	GinkgoHelper()
	update(clusterNamed(cluster), func(c *clusterv1.ManagedCluster) {
		c.Annotations = map[string]string{v1alpha1.AnnotationClusterValues: text}
	})
}

// templated makes the bundle app of templates.
func (w *world) templated() *fleet.Bundle {
	b := w.bundle()
	b.Spec.Resources = []fleet.BundleResource{{Name: "cm.yaml", Content: "of: " + w.namespace + "\n"}}
	b.Spec.Helm = &fleet.HelmOptions{
		Values: &fleet.GenericMap{Data: map[string]any{
			"environment": "global.fleet.clusterLabels.environment", "name": "${ .ClusterName }",
			"region": "${ .ClusterValues.region }", "claim": "${ .ClusterClaims.id }",
		}},
		TemplateValues: map[string]string{"password": canary + "${ .ClusterName }"},
	}
	return b
}

// static makes the bundle static of customizations that all count.
func (w *world) static() *fleet.Bundle {
	b := w.bundle()
	b.Name = "static"
	b.Spec.Resources = []fleet.BundleResource{{Name: "cm.yaml", Content: "static: " + w.namespace + "\n"}}
	custom := func(t fleet.BundleTarget, key string) fleet.BundleTarget {
		t.Helm = &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{key: true}}}
		return t
	}
	b.Spec.TargetCustomizationMode = fleet.TargetCustomizationModeAllMatches
	b.Spec.Targets = []fleet.BundleTarget{
		custom(fleet.BundleTarget{ClusterName: w.dev}, "dev"),
		custom(fleet.BundleTarget{ClusterSelector: &metav1.LabelSelector{}}, "everywhere"),
		{Name: "all", ClusterSelector: &metav1.LabelSelector{}},
	}
	b.Spec.TargetRestrictions = []fleet.BundleTargetRestriction{{Name: "all", ClusterSelector: &metav1.LabelSelector{}}}
	return b
}

// rolloutOf another bundle of the world.
func (w *world) rolloutOf(b *fleet.Bundle) *v1alpha1.Rollout {
	ro := &v1alpha1.Rollout{}
	_ = k8s.Get(bg, keyOf(b), ro)
	return ro
}

var _ = Describe("A templated bundle", func() {
	It("is rendered for each cluster, and where something changes that it uses", func() {
		w := newWorld()
		manager := startManager()
		eu := w.edge("eu")
		configure(w.dev, eu)
		configure(w.stg, eu)
		for _, c := range []string{w.dev, w.stg, w.prod} {
			claims(c, "id-of-"+c)
		}
		app, static := w.templated(), w.static()
		Expect(k8s.Create(bg, app)).To(Succeed())
		Expect(k8s.Create(bg, static)).To(Succeed())

		By("holding the cluster only that a template cannot be filled in for")
		Expect(w.holdsFor("FailureBudgetExceeded")).To(And(ContainSubstring(w.prod), ContainSubstring("region")))
		Expect(w.rollout().Status.Done).To(Equal("2/3"))
		Expect(w.admitted(w.prod)).To(BeEmpty())
		Expect(w.valuesOn(w.dev)).To(And(ContainSubstring("environment: dev"), ContainSubstring("name: "+w.dev),
			ContainSubstring("region: eu"), ContainSubstring("claim: id-of-"+w.dev), ContainSubstring("password: "+canary+w.dev)))
		annotateValues(w.prod, "{region: us}")
		w.completes()
		Expect(w.valuesOn(w.prod)).To(And(ContainSubstring("region: us"), ContainSubstring("environment: prod")))
		Expect(w.leaks()).To(BeEmpty())
		Eventually(func() string { return w.rolloutOf(static).Status.Reason }).WithTimeout(patient).Should(Equal("Complete"))
		ofStatic := "/manifestworks/" + work.Name(keyOf(static))
		before := len(manager.writes.all(ofStatic))

		By("a label that it uses")
		update(clusterNamed(w.dev), func(c *clusterv1.ManagedCluster) { c.Labels["environment"] = "test" })
		Eventually(func() string { return w.valuesOn(w.dev) }).WithTimeout(patient).Should(ContainSubstring("environment: test"))
		w.completes()
		admitted := w.admitted(w.dev)

		By("a label and an annotation that it does not use")
		update(clusterNamed(w.dev), func(c *clusterv1.ManagedCluster) {
			c.Labels["rack"], c.Annotations = "7", map[string]string{"note": "x"}
		})

		By("a claim")
		claims(w.stg, "another")
		Eventually(func() string { return w.valuesOn(w.stg) }).WithTimeout(patient).Should(ContainSubstring("claim: another"))
		w.completes()

		By("an edit of a config, when it is the cluster's turn")
		de := w.edge("de")
		Consistently(func() string { return w.admitted(w.dev) }).WithTimeout(time.Second).Should(Equal(admitted))
		configure(w.dev, de)
		Eventually(func() string { return w.valuesOn(w.dev) }).WithTimeout(patient).Should(ContainSubstring("region: de"))
		w.completes()
		Expect(w.valuesOn(w.stg)).To(ContainSubstring("region: eu"))

		By("an annotation that is no map")
		id := w.id(w.prod)
		annotateValues(w.prod, "- "+canary)
		Expect(w.holdsFor("FailureBudgetExceeded")).To(And(ContainSubstring(w.prod), ContainSubstring(v1alpha1.AnnotationClusterValues)))
		Expect(w.leaks()).To(BeEmpty())
		Expect(w.id(w.prod)).To(Equal(id))
		annotateValues(w.prod, "{region: us}")
		w.completes()
		Expect(w.id(w.prod)).To(Equal(id))

		By("leaving the static bundle alone through all of it")
		Expect(manager.writes.all(ofStatic)).To(HaveLen(before))
		Expect(w.rolloutOf(static).Status.Reason).To(Equal("Complete"))
		Expect(w.valuesOf(static, w.dev)).To(Equal("dev: true\neverywhere: true\n"))
		Expect(w.valuesOf(static, w.prod)).To(Equal("everywhere: true\n"))
	})
})

var _ = Describe("A BundleNamespaceMapping", func() {
	It("lends ClusterGroups, and no cluster that is not bound in both namespaces", func() {
		w, lender := newWorld(), newWorld()
		startManager()
		Expect(k8s.Create(bg, &fleet.ClusterGroup{
			ObjectMeta: metav1.ObjectMeta{Namespace: lender.namespace, Name: "edge"},
			Spec:       fleet.ClusterGroupSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"environment": "dev"}}},
		})).To(Succeed())
		b := w.bundle()
		b.Labels = map[string]string{"borrows": "yes"}
		b.Spec.Resources = []fleet.BundleResource{{Name: "cm.yaml", Content: "of: " + w.namespace + "\n"}}
		b.Spec.Targets = []fleet.BundleTarget{{ClusterGroup: "edge"}}
		Expect(k8s.Create(bg, b)).To(Succeed())
		w.holdsFor("NoClusters")

		By("a mapping alone")
		mapping := &fleet.BundleNamespaceMapping{
			ObjectMeta:        metav1.ObjectMeta{Namespace: w.namespace, Name: "edge"},
			BundleSelector:    &metav1.LabelSelector{MatchLabels: map[string]string{"borrows": "yes"}},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"lends": w.namespace}},
		}
		Expect(k8s.Create(bg, mapping)).To(Succeed())
		Expect(k8s.Get(bg, keyOf(mapping), mapping)).To(Succeed())
		Expect(mapping.NamespaceSelector).NotTo(BeNil(), "the API server has dropped a field")
		label(lender.namespace, "lends", w.namespace)
		Consistently(func() []string { return []string{w.admitted(w.dev), w.admitted(lender.dev)} }).
			WithTimeout(2 * time.Second).Should(Equal([]string{"", ""}))

		By("the set that is bound in the lender's namespace too")
		bindAlso(lender.namespace, w.set)
		Eventually(func() string { return w.admitted(w.dev) }).WithTimeout(patient).ShouldNot(BeEmpty())
		Eventually(func() string { return w.rollout().Status.Reason + " " + w.rollout().Status.Done }).WithTimeout(patient).Should(Equal("Complete 1/1"))
		Expect(w.admitted(w.stg)).To(BeEmpty())
		Expect(w.admitted(lender.dev)).To(BeEmpty())

		By("a namespace that lends no more")
		label(lender.namespace, "lends", "nobody")
		Eventually(func() string { return w.rollout().Status.Message }).WithTimeout(patient).ShouldNot(ContainSubstring("1 cluster done"))
		label(lender.namespace, "lends", w.namespace)
		Eventually(func() string { return w.rollout().Status.Reason + " " + w.rollout().Status.Done }).WithTimeout(patient).Should(Equal("Complete 1/1"))
	})
})

// label puts a label on a Namespace.
func label(namespace, key, value string) {
	GinkgoHelper()
	ns := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	ns.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("Namespace"))
	ns.APIVersion = "v1"
	Expect(k8s.Patch(bg, ns, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"`+key+`":"`+value+`"}}}`)))).To(Succeed())
}

// bindAlso binds a set that is there in one more namespace.
func bindAlso(namespace, set string) {
	GinkgoHelper()
	b := &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: set},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
	}
	Expect(k8s.Create(bg, b)).To(Succeed())
	update(b, func(b *clusterv1beta2.ManagedClusterSetBinding) {
		meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{
			Type: clusterv1beta2.ClusterSetBindingBoundType, Status: metav1.ConditionTrue, Reason: "Test",
		})
	}, inStatus)
}
