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
)

// sequenceSpecs come last: no cluster has the add-on any more, but the hub still has its CRDs.
func sequenceSpecs() {
	It("deploys from files what Fleet's documentation says, where no agent is", func(ctx context.Context) {
		// The namespace of commands that name none.
		t := newTenant("sequence")
		t.namespace = "fleet-local"
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: t.namespace}}
		Expect(hub.Create(ctx, namespace)).To(Succeed())
		DeferCleanup(func(ctx context.Context) { Expect(hub.Delete(ctx, namespace)).To(Succeed()) }, NodeTimeout(patience))
		Expect(hub.Create(ctx, t.binding())).To(Succeed())
		group := &fleet.ClusterGroup{ObjectMeta: metav1.ObjectMeta{Namespace: t.namespace, Name: "default"}}
		group.Spec.Selector = inEnvironment("stg")
		Expect(hub.Create(ctx, group)).To(Succeed())
		stg := env.cluster("stg")

		nowhere := shell(ourProgram)
		nowhere.copies(simpleChart)
		nowhere.run(ctx, "apply", "-n", "fleet-local", "-o", "bundle.yaml", "testbundle", "simple-chart/")
		nowhere.writes("bd.yaml", nowhere.on(env.Hub).run(ctx, "target", "--bundle-file", "bundle.yaml", "--dump-input-list"))
		Expect(nowhere.run(ctx, "deploy", "--input-file", "bd.yaml", "--dry-run")).To(And(ContainSubstring("kind: ConfigMap"), ContainSubstring("message: hello")))
		Expect(settingsOf(ctx, stg.Name)).To(BeNil(), "a dry run leaves the cluster alone")

		nowhere.on(stg).run(ctx, "deploy", "--input-file", "bd.yaml")
		DeferCleanup(func(ctx context.Context) {
			there := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: simpleChart}}
			Expect(clusters[stg.Name].Delete(ctx, there)).To(Succeed())
		}, NodeTimeout(patience))
		Expect(settingsOf(ctx, stg.Name)).To(Equal(map[string]string{"message": "hello"}))
		releases := &corev1.SecretList{}
		Expect(clusters[stg.Name].List(ctx, releases, client.InNamespace(simpleChart), client.MatchingLabels{"owner": "helm", "status": "deployed"})).To(Succeed())
		Expect(releases.Items).To(HaveLen(1), "Helm knows the release")
	}, SpecTimeout(2*time.Minute))
}

// settingsOf is the data of simple-chart's ConfigMap on a cluster; nil if it is not there.
func settingsOf(ctx context.Context, cluster string) map[string]string {
	GinkgoHelper()
	settings := &corev1.ConfigMap{}
	err := clusters[cluster].Get(ctx, types.NamespacedName{Namespace: simpleChart, Name: simpleChart}, settings)
	Expect(client.IgnoreNotFound(err)).To(Succeed())
	return settings.Data
}
