package e2e

import (
	"context"
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/rand"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// tenant is a namespace that may use all clusters, with a Placement in three groups and a policy for all its bundles.
type tenant struct {
	namespace string
	// set of the clusters that the namespace may use.
	set       string
	placement *clusterv1beta1.Placement
	policy    *v1alpha1.RolloutPolicy
}

// Names of a tenant's Placement and policy.
const (
	placementName = "all"
	policyName    = "gates"
)

// newTenant prepares one; create makes it.
func newTenant(name string) *tenant {
	t := &tenant{namespace: "e2e-" + name + "-" + rand.String(4), set: clusterSet}
	t.placement = &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: t.namespace, Name: placementName}}
	for _, group := range []string{"dev", "stg", "prod"} {
		t.placement.Spec.DecisionStrategy.GroupStrategy.DecisionGroups = append(
			t.placement.Spec.DecisionStrategy.GroupStrategy.DecisionGroups, clusterv1beta1.DecisionGroup{
				GroupName: group,
				ClusterSelector: clusterv1beta1.GroupClusterSelector{LabelSelector: metav1.LabelSelector{
					MatchLabels: map[string]string{environmentLabel: group}}},
			})
	}
	t.policy = &v1alpha1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: t.namespace, Name: policyName}}
	t.policy.Spec.BundleSelector = &metav1.LabelSelector{}
	t.policy.Spec.PlacementRefs = []v1alpha1.PlacementRef{{Name: placementName}}
	return t.gates(3*time.Second, "None", 0)
}

// gates sets what the policy asks of each group.
func (t *tenant) gates(minSuccess time.Duration, deadline string, maxFailures int) *tenant {
	failures := intstr.FromInt32(int32(maxFailures))
	t.policy.Spec.PlacementRefs[0].RolloutStrategy = v1alpha1.RolloutStrategy{
		Type: v1alpha1.StrategyProgressivePerGroup,
		ProgressivePerGroup: &v1alpha1.RolloutProgressivePerGroup{
			RolloutConfig: v1alpha1.RolloutConfig{
				MinSuccessTime:   &metav1.Duration{Duration: minSuccess},
				ProgressDeadline: deadline,
				MaxFailures:      &failures,
			},
		},
	}
	return t
}

// clusterUnreachable is the taint that OCM gives a cluster that does not answer.
const clusterUnreachable = "cluster.open-cluster-management.io/unreachable"

// create makes the tenant, and removes it and its bundles after the spec.
func (t *tenant) create(ctx context.Context) *tenant {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: t.namespace}}
	Expect(hub.Create(ctx, namespace)).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		t.removeBundles(ctx)
		Expect(client.IgnoreNotFound(hub.Delete(ctx, namespace))).To(Succeed())
	}, NodeTimeout(2*time.Minute))
	t.placement.Spec.ClusterSets = []string{t.set}
	for _, o := range []client.Object{t.binding(), t.placement, t.policy} {
		Expect(hub.Create(ctx, o)).To(Succeed())
	}
	return t
}

// binding is what lets the tenant use its clusters.
func (t *tenant) binding() *clusterv1beta2.ManagedClusterSetBinding {
	b := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: t.namespace, Name: t.set}}
	b.Spec.ClusterSet = t.set
	return b
}

// removeBundles deletes the tenant's bundles and waits until nothing of them is left on the hub.
func (t *tenant) removeBundles(ctx context.Context) {
	GinkgoHelper()
	Expect(hub.DeleteAllOf(ctx, &fleet.Bundle{}, client.InNamespace(t.namespace))).To(Succeed())
	Eventually(ctx, func(g Gomega, ctx context.Context) {
		g.Expect(worksOf(ctx, g, t.namespace)).To(BeEmpty())
	}).Should(Succeed(), "the works of %s are gone", t.namespace)
}

// worksOf lists the works of a namespace's bundles.
func worksOf(ctx context.Context, g Gomega, namespace string) []workv1.ManifestWork {
	works := &workv1.ManifestWorkList{}
	g.Expect(hub.List(ctx, works, client.MatchingLabels{v1alpha1.LabelBundleNamespace: namespace})).To(Succeed())
	return works.Items
}

// apply is `kubectl apply --server-side`.
func apply(ctx context.Context, object client.Object) {
	GinkgoHelper()
	data, err := json.Marshal(object)
	Expect(err).NotTo(HaveOccurred())
	u := &unstructured.Unstructured{}
	Expect(json.Unmarshal(data, &u.Object)).To(Succeed())
	unstructured.RemoveNestedField(u.Object, "status")
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	gvk, err := hub.GroupVersionKindFor(object)
	Expect(err).NotTo(HaveOccurred())
	u.SetGroupVersionKind(gvk)
	Expect(hub.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("e2e"), client.ForceOwnership)).To(Succeed())
}
