package hub_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// tooLarge passes the API's schema and fits into no int32.
const tooLarge = "99999999999"

var _ = Describe("What Go cannot read", func() {
	It("holds its own bundles and nobody else's", func() {
		w, other := newWorld(), newWorld()
		startManager()
		w.deploy("v1")
		w.completes()
		before := w.work(w.dev).Generation

		By("a bundle")
		bundle := fleet.SchemeGroupVersion.WithKind("Bundle")
		write(bundle, w.key(), `{"spec":{"rolloutStrategy":{"maxUnavailable":`+tooLarge+`}}}`)
		Eventually(func() string { return w.rollout().Status.Reason }).WithTimeout(patient).Should(Equal("BundleInvalid"))
		Expect(w.rollout().Status.Message).To(ContainSubstring(tooLarge))
		other.deploy("v1")
		other.completes()
		Expect(w.work(w.dev).Generation).To(Equal(before))
		write(bundle, w.key(), `{"spec":{"rolloutStrategy":null}}`)
		w.completes()

		By("a policy")
		policy := v1alpha1.GroupVersion.WithKind("RolloutPolicy")
		throughTheDoor(func() {
			write(policy, keyOf(policyOf(other)), `{"spec":{"placementRefs":[{"name":"stages","maxConcurrency":`+tooLarge+`}]}}`)
		})
		Eventually(func() string { return other.rollout().Status.Reason }).WithTimeout(patient).Should(Equal("StrategyInvalid"))
		Expect(other.rollout().Status.Message).To(ContainSubstring("cannot be read"))
		w.deploy("v2")
		w.completes()
	})

	It("is a Placement's own problem", func() {
		w, other := newWorld(), newWorld()
		placement := schema.GroupVersion(clusterv1beta1.GroupVersion).WithKind("Placement")
		stages := client.ObjectKey{Namespace: other.namespace, Name: "stages"}
		groups := func(most string) {
			GinkgoHelper()
			write(placement, stages, `{"spec":{"decisionStrategy":{"groupStrategy":{"clustersPerDecisionGroup":`+most+`}}}}`)
		}
		groups(tooLarge)
		DeferCleanup(groups, `"100%"`)
		startManager()
		w.deploy("v1")
		w.completes()
		other.deploy("v1")
		Eventually(func() string { return other.rollout().Status.Message }).WithTimeout(patient).Should(And(
			ContainSubstring("stages"), ContainSubstring("cannot be read"), ContainSubstring(tooLarge)))
		Expect(other.admitted(other.dev)).To(BeEmpty())
		groups(`"100%"`)
		other.completes()
		groups(tooLarge)
		w.deploy("v2")
		w.completes()
	})

	It("is taken up by a manager that starts with it", func() {
		w, other := newWorld(), newWorld()
		other.deploy("v1")
		write(fleet.SchemeGroupVersion.WithKind("Bundle"), other.key(), `{"spec":{"rolloutStrategy":{"maxUnavailable":`+tooLarge+`}}}`)
		startManager()
		w.deploy("v1")
		w.completes()
		Eventually(func() string { return other.rollout().Status.Reason }).WithTimeout(patient).Should(Equal("BundleInvalid"))
		Expect(other.admitted(other.dev)).To(BeEmpty())
	})
})

// throughTheDoor writes a RolloutPolicy as an earlier version of the API would have let
// it in: with any spec.
func throughTheDoor(write func()) {
	GinkgoHelper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	Expect(k8s.Get(bg, keyNamed("rolloutpolicies."+v1alpha1.GroupName), crd)).To(Succeed())
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	anything := true
	put := func(spec apiextensionsv1.JSONSchemaProps) {
		GinkgoHelper()
		before := crd.DeepCopy()
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
		Expect(k8s.Patch(bg, crd, client.MergeFrom(before))).To(Succeed())
	}
	refused := func() []string {
		_, refused := doorOf("rolloutpolicies", "RolloutPolicy").knock(lane(`"maxConcurrency":` + tooLarge))
		return refused
	}
	put(apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &anything})
	Eventually(refused).WithTimeout(patient).Should(BeEmpty())
	write()
	put(spec)
	Eventually(refused).WithTimeout(patient).ShouldNot(BeEmpty())
}

// write patches an object without reading the answer.
func write(kind schema.GroupVersionKind, key client.ObjectKey, patch string) {
	GinkgoHelper()
	o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	o.SetGroupVersionKind(kind)
	Expect(k8s.Patch(bg, o, client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
}
