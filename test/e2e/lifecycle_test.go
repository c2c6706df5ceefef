package e2e

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

func lifecycleSpecs() {
	It("takes the releases of a cluster before its agent when the ManagedClusterAddOn is deleted", func(ctx context.Context) {
		a := newTenant("addon").gates(0, "None", 0).create(ctx).app("web")
		revision := a.apply(ctx)
		awaitComplete(ctx, a.key(), revision)
		agent := &appsv1.Deployment{}
		Expect(clusters["dev2"].Get(ctx, agentDeployment, agent)).To(Succeed())
		Expect(hub.Delete(ctx, addonOf("dev2"))).To(Succeed())
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			// The release first: an agent that is seen to go later went later.
			left := a.objectsOn(ctx, g, "dev2")
			if agentGone(ctx, g, "dev2", agent) && len(left) > 0 {
				StopTrying("the agent went before the releases").Attach("left", left).Now()
			}
			g.Expect(left).To(BeEmpty())
		}).WithPolling(50 * time.Millisecond).Should(Succeed())
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			g.Expect(agentGone(ctx, g, "dev2", agent)).To(BeTrue())
		}).Should(Succeed())

		By("the install Placement brings both back")
		awaitAgents(ctx)
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			g.Expect(a.runs(ctx, g, "dev2")).To(Equal(a.chartVersion()))
		}).WithTimeout(2 * patience).Should(Succeed())
		awaitComplete(ctx, a.key(), revision)
	}, SpecTimeout(4*time.Minute))

	It("says what stays when it is uninstalled with bundles, and takes it up when it is installed again", func(ctx context.Context) {
		a := newTenant("stays").gates(0, "None", 0).create(ctx).app("web")
		awaitComplete(ctx, a.key(), a.apply(ctx))
		start := time.Now()
		shown := uninstallChart()
		Expect(time.Since(start)).To(BeNumerically("<", 2*time.Minute))
		if !env.local() {
			// Nobody serves logs of pods on local clusters.
			Expect(shown).To(ContainSubstring(a.namespace + "/" + a.name))
		}
		Expect(warnings(ctx, a.key())).To(ContainElement(And(ContainSubstring("uninstalled"), ContainSubstring("stays deployed on 4 clusters"))))
		expectAddonGone(ctx)
		Expect(worksOf(ctx, Default, a.namespace)).To(And(HaveLen(len(every)), HaveEach(HaveField("DeletionTimestamp", BeNil()))))
		for _, name := range every {
			Expect(a.runs(ctx, Default, name)).To(Equal(a.chartVersion()), "on %s", name)
		}

		installChart(ctx)
		awaitAgents(ctx)
		revision := a.next().apply(ctx)
		awaitComplete(ctx, a.key(), revision)
		for _, name := range every {
			Expect(a.runs(ctx, Default, name)).To(Equal(a.chartVersion()), "on %s", name)
		}
	}, SpecTimeout(8*time.Minute))

	It("adds nothing that hangs where the klusterlet is down", Label("local"), func(ctx context.Context) {
		needLocal()
		a := newTenant("down").gates(0, "None", 0).create(ctx).app("web")
		awaitComplete(ctx, a.key(), a.apply(ctx))
		DeferCleanup(fault, "start-agents", "prod", NodeTimeout(2*patience))
		fault(ctx, "stop-agents", "prod")

		By("a bundle is deleted")
		Expect(hub.Delete(ctx, a.bundle())).To(Succeed())
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			g.Expect(hub.Get(ctx, a.key(), &fleet.Bundle{})).To(MatchError(apierrors.IsNotFound, "IsNotFound"))
			g.Expect(hub.Get(ctx, a.key(), &v1alpha1.Rollout{})).To(MatchError(apierrors.IsNotFound, "IsNotFound"))
			g.Expect(worksOf(ctx, g, a.namespace)).To(ConsistOf(And(
				HaveField("Namespace", "prod"), HaveField("DeletionTimestamp", Not(BeNil())),
				HaveField("Finalizers", ConsistOf(workv1.ManifestWorkFinalizer)))))
		}).Should(Succeed())

		By("the cluster is deleted when OCM knows that it does not answer")
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			g.Expect(taints(ctx, g, "prod")).To(ContainElement(clusterUnreachable))
		}).WithTimeout(2 * patience).Should(Succeed())
		Expect(hub.Delete(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "prod"}})).To(Succeed())
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			addon := &addonv1beta1.ManagedClusterAddOn{}
			g.Expect(client.IgnoreNotFound(hub.Get(ctx, client.ObjectKeyFromObject(addonOf("prod")), addon))).To(Succeed())
			g.Expect(addon.Finalizers).NotTo(ContainElement(v1alpha1.FinalizerBundles))
		}).Should(Succeed())

		By("OCM's own finalizers are taken away by hand, and the cluster joins again")
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			releaseWorks(ctx, g, "prod")
			g.Expect(hub.Get(ctx, types.NamespacedName{Name: "prod"}, &clusterv1.ManagedCluster{})).To(MatchError(apierrors.IsNotFound, "IsNotFound"))
		}).WithPolling(time.Second).Should(Succeed())
		forgetWorks(ctx, "prod")
		fault(ctx, "rejoin", "prod")
		awaitAgents(ctx)
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			g.Expect(a.objectsOn(ctx, g, "prod")).To(BeEmpty())
		}).WithTimeout(2 * patience).Should(Succeed())
	}, SpecTimeout(8*time.Minute))

	It("goes completely with a ManagedCluster that is deleted", func(ctx context.Context) {
		a := newTenant("detach").gates(0, "None", 0).create(ctx).app("web")
		awaitComplete(ctx, a.key(), a.apply(ctx))
		Expect(hub.Delete(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "dev1"}})).To(Succeed())
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			g.Expect(hub.Get(ctx, types.NamespacedName{Name: "dev1"}, &clusterv1.ManagedCluster{})).To(MatchError(apierrors.IsNotFound, "IsNotFound"))
			g.Expect(a.objectsOn(ctx, g, "dev1")).To(BeEmpty())
			g.Expect(clusters["dev1"].Get(ctx, agentDeployment, &appsv1.Deployment{})).To(MatchError(apierrors.IsNotFound, "IsNotFound"))
			g.Expect(inNamespace(ctx, g, "dev1")).To(BeEmpty())
		}).WithTimeout(2 * patience).Should(Succeed())
		if !env.local() {
			leave("dev1")
			return
		}
		fault(ctx, "rejoin", "dev1")
		awaitAgents(ctx)
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			g.Expect(a.runs(ctx, g, "dev1")).To(Equal(a.chartVersion()))
		}).WithTimeout(2 * patience).Should(Succeed())
	}, SpecTimeout(6*time.Minute))

	It("leaves nothing behind when it is uninstalled after its bundles", func(ctx context.Context) {
		t := newTenant("gone").gates(0, "None", 0).create(ctx)
		a := t.app("web")
		awaitComplete(ctx, a.key(), a.apply(ctx))
		t.removeBundles(ctx)
		uninstallChart()
		expectAddonGone(ctx)
		works := &workv1.ManifestWorkList{}
		Expect(hub.List(ctx, works, client.HasLabels{v1alpha1.LabelBundle})).To(Succeed())
		Expect(works.Items).To(BeEmpty())
		configs := &addonv1beta1.AddOnDeploymentConfigList{}
		Expect(hub.List(ctx, configs, client.InNamespace(chartNamespace))).To(Succeed())
		Expect(configs.Items).To(BeEmpty())
		for _, name := range every {
			Expect(a.objectsOn(ctx, Default, name)).To(BeEmpty(), "on %s", name)
			// Also what earlier specs have deployed.
			releases := &corev1.SecretList{}
			Expect(clusters[name].List(ctx, releases, client.MatchingLabels{"owner": "helm"})).To(Succeed())
			Expect(releases.Items).To(BeEmpty(), "Helm releases on %s", name)
			deployments := &v1alpha1.BundleDeploymentList{}
			Expect(clusters[name].List(ctx, deployments)).To(Succeed())
			Expect(deployments.Items).To(BeEmpty(), "on %s", name)
		}
	}, SpecTimeout(6*time.Minute))
}

func addonOf(cluster string) *addonv1beta1.ManagedClusterAddOn {
	return &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: v1alpha1.AddOnName}}
}

// agentGone tells whether the agent that was there is gone or going, even if there is another one already.
func agentGone(ctx context.Context, g Gomega, cluster string, was *appsv1.Deployment) bool {
	d := &appsv1.Deployment{}
	err := clusters[cluster].Get(ctx, agentDeployment, d)
	if apierrors.IsNotFound(err) {
		return true
	}
	g.Expect(err).NotTo(HaveOccurred())
	return d.UID != was.UID || !d.DeletionTimestamp.IsZero()
}

// expectAddonGone asserts that add-on and agents are gone, or follow within seconds.
func expectAddonGone(ctx context.Context) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega, ctx context.Context) {
		err := hub.Get(ctx, types.NamespacedName{Name: v1alpha1.AddOnName}, &addonv1beta1.ClusterManagementAddOn{})
		g.Expect(err).To(MatchError(apierrors.IsNotFound, "IsNotFound"))
		for _, name := range every {
			err := hub.Get(ctx, client.ObjectKeyFromObject(addonOf(name)), &addonv1beta1.ManagedClusterAddOn{})
			g.Expect(err).To(MatchError(apierrors.IsNotFound, "IsNotFound"), "the ManagedClusterAddOn of %s", name)
			err = clusters[name].Get(ctx, agentDeployment, &appsv1.Deployment{})
			g.Expect(err).To(MatchError(apierrors.IsNotFound, "IsNotFound"), "the agent on %s", name)
		}
	}).Should(Succeed())
}

// warnings are the messages of the Warning events on a bundle.
func warnings(ctx context.Context, bundle types.NamespacedName) []string {
	GinkgoHelper()
	events := &corev1.EventList{}
	Expect(hub.List(ctx, events, client.InNamespace(bundle.Namespace))).To(Succeed())
	var out []string
	for _, e := range events.Items {
		if e.InvolvedObject.Kind == "Bundle" && e.InvolvedObject.Name == bundle.Name && e.Type == corev1.EventTypeWarning {
			out = append(out, e.Message)
		}
	}
	return out
}

// releaseWorks takes OCM's finalizer from the works of a cluster that is gone for good.
func releaseWorks(ctx context.Context, g Gomega, cluster string) {
	works := &workv1.ManifestWorkList{}
	g.Expect(hub.List(ctx, works, client.InNamespace(cluster))).To(Succeed())
	for i := range works.Items {
		w := &works.Items[i]
		if w.DeletionTimestamp.IsZero() {
			continue
		}
		g.Expect(w.Finalizers).To(ConsistOf(workv1.ManifestWorkFinalizer), "the finalizers of work %s", w.Name)
		before := w.DeepCopy()
		w.Finalizers = nil
		g.Expect(client.IgnoreNotFound(hub.Patch(ctx, w, client.MergeFrom(before)))).To(Succeed())
	}
}

// forgetWorks removes from a cluster what works have left there whose hub has forgotten them.
func forgetWorks(ctx context.Context, cluster string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega, ctx context.Context) {
		works := &workv1.AppliedManifestWorkList{}
		g.Expect(clusters[cluster].List(ctx, works)).To(Succeed())
		for i := range works.Items {
			w := &works.Items[i]
			before := w.DeepCopy()
			w.Finalizers = nil
			g.Expect(client.IgnoreNotFound(clusters[cluster].Patch(ctx, w, client.MergeFrom(before)))).To(Succeed())
			g.Expect(client.IgnoreNotFound(clusters[cluster].Delete(ctx, w))).To(Succeed())
		}
		// Kubernetes removes what they own.
		deployments := &v1alpha1.BundleDeploymentList{}
		g.Expect(clusters[cluster].List(ctx, deployments)).To(Succeed())
		g.Expect(deployments.Items).To(BeEmpty())
		g.Expect(clusters[cluster].Get(ctx, agentDeployment, &appsv1.Deployment{})).To(MatchError(apierrors.IsNotFound, "IsNotFound"))
	}).Should(Succeed())
}

// inNamespace lists what of a cluster is left on the hub.
func inNamespace(ctx context.Context, g Gomega, cluster string) []string {
	works, addons := &workv1.ManifestWorkList{}, &addonv1beta1.ManagedClusterAddOnList{}
	g.Expect(hub.List(ctx, works, client.InNamespace(cluster))).To(Succeed())
	g.Expect(hub.List(ctx, addons, client.InNamespace(cluster))).To(Succeed())
	var out []string
	for _, w := range works.Items {
		out = append(out, "ManifestWork "+w.Name)
	}
	for _, a := range addons.Items {
		out = append(out, "ManagedClusterAddOn "+a.Name)
	}
	return out
}

// leave takes a cluster that cannot come back out of the suite.
func leave(cluster string) {
	other := func(name string) bool { return name == cluster }
	dev = slices.DeleteFunc(dev, other)
	groups = [][]string{dev, stg, prod}
	every = slices.Concat(groups...)
}
