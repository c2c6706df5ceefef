package cli_test

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/revision"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/pkg/values"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

// site is a chart's ConfigMap, which has the cluster's environment in it, and a Secret.
func siteFiles(text string) []fleet.BundleResource {
	return []fleet.BundleResource{
		{Name: "Chart.yaml", Content: "apiVersion: v2\nname: hello\nversion: 1.0.0\n"},
		{Name: "templates/map.yaml", Content: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hello}\ndata: {env: '{{ .Values.env }}', text: " + text + "}\n"},
		{Name: "templates/secret.yaml", Content: "apiVersion: v1\nkind: Secret\nmetadata: {name: hello}\nstringData: {token: '{{ .Values.token }}'}\n"},
	}
}

var _ = Describe("fleetctl diff", func() {
	var w *world
	var dev, prod1, prod2 string
	helm := func(env, token string) fleet.BundleDeploymentOptions {
		return fleet.BundleDeploymentOptions{DefaultNamespace: "site", Helm: &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"env": env, "token": token}}}}
	}
	// deployed makes the work of a cluster, with the files in it or in a Content.
	deployed := func(name, env, text string, inline bool) {
		GinkgoHelper()
		create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		create(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"env": env}}})
		packed, gz, sum, err := content.Pack(siteFiles(text))
		Expect(err).NotTo(HaveOccurred())
		source := v1alpha1.ContentSource{Name: packed}
		if inline {
			source.Inline = gz
		} else {
			c := &v1alpha1.Content{ObjectMeta: metav1.ObjectMeta{Name: packed}, Content: gz, SHA256Sum: sum, Size: int64(len(gz))}
			Expect(client.IgnoreAlreadyExists(k8s.Create(bg, c))).To(Succeed())
		}
		mw, err := work.Build(work.Deployment{
			Bundle: w.key(), Cluster: name, AgentNamespace: "agent", ID: packed + ":x", Revision: "rev1", Admission: "token",
			Place: rollout.Place{Lane: "stages", GroupKey: rollout.GroupKey{Name: env}}, Content: source, Options: helm(env, "hunter2"),
		})
		Expect(err).NotTo(HaveOccurred())
		create(mw)
	}
	bundle := func() *fleet.Bundle {
		GinkgoHelper()
		b := &fleet.Bundle{}
		Expect(k8s.Get(bg, w.key(), b)).To(Succeed())
		return b
	}
	// wants makes the bundle say what the works carry, of these files and this token.
	wants := func(text, token string) {
		GinkgoHelper()
		b := bundle()
		b.Spec.Resources = siteFiles(text)
		b.Spec.BundleDeploymentOptions = helm("${ .ClusterLabels.env }", token)
		b.Spec.Targets = []fleet.BundleTarget{{Name: "all", ClusterSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "env", Operator: metav1.LabelSelectorOpExists}}}}}
		Expect(k8s.Update(bg, b)).To(Succeed())
	}
	diff := func(status int, kubeconfig string, args ...string) string {
		GinkgoHelper()
		o := &output{}
		got := execute(bg, o, append([]string{"diff", "--kubeconfig", kubeconfig, "-n", w.namespace, "hello"}, args...)...)
		Expect(got).To(Equal(status), o.text())
		Expect(o.text()).NotTo(ContainSubstring("hunter"))
		return o.text()
	}
	BeforeEach(func() {
		w = newWorld()
		dev, prod1, prod2 = w.namespace+"-dev", w.namespace+"-prod1", w.namespace+"-prod2"
		deployed(dev, "dev", "one", true)
		deployed(prod1, "prod", "one", false)
		deployed(prod2, "prod", "one", false)
	})

	It("says that nothing changes", func() {
		wants("one", "hunter2")
		Expect(diff(0, admin)).To(And(ContainSubstring("3 clusters: "+dev+", "+prod1+", "+prod2+"\nnothing changes"), ContainSubstring("against what the Bundle says now")))
		Expect(diff(0, admin, prod1)).To(ContainSubstring("1 cluster: " + prod1 + "\nnothing changes"))
	})

	It("shows what changes once for all clusters that are alike, and hides what is secret", func() {
		wants("two", "hunter3")
		text := diff(1, admin)
		Expect(text).To(And(
			ContainSubstring("2 clusters: "+prod1+", "+prod2+"\nobjects: 2 changed, 0 added, 0 removed\n--- ConfigMap site/hello\n+++ ConfigMap site/hello\n"),
			ContainSubstring("   env: prod\n-  text: one\n+  text: two\n"), ContainSubstring("   env: dev\n"),
			ContainSubstring("-  token: (hidden, as it was)\n+  token: (hidden, changed)\n")))
		Expect(strings.Count(text, "--- Secret site/hello")).To(Equal(2))
		Expect(diff(1, admin, dev, "-o", "json")).To(And(ContainSubstring(`"change": "changed"`), ContainSubstring(`"`+dev+`"`), Not(ContainSubstring(prod1))))
	})

	It("takes the values from the bundle's Secret", func() {
		wants("one", "hunter2")
		b := bundle()
		data, err := values.Take(b)
		Expect(err).NotTo(HaveOccurred())
		Expect(k8s.Update(bg, b)).To(Succeed())
		Expect(diff(3, admin)).To(ContainSubstring("no Secret " + w.namespace + "/hello with the values"))
		create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "hello"}, Type: values.SecretType, Data: data})
		Expect(diff(0, admin)).To(ContainSubstring("nothing changes"))
	})

	It("compares with a file, for clusters that would get the bundle, and that would lose it", func() {
		wants("one", "hunter2")
		fresh := w.namespace + "-fresh"
		w.cluster(fresh, "dev", "")
		mc := &clusterv1.ManagedCluster{}
		Expect(k8s.Get(bg, types.NamespacedName{Name: fresh}, mc)).To(Succeed())
		mc.Labels = map[string]string{"env": "dev"}
		Expect(k8s.Update(bg, mc)).To(Succeed())

		b := bundle()
		b.TypeMeta = metav1.TypeMeta{APIVersion: fleet.SchemeGroupVersion.String(), Kind: "Bundle"}
		b.ObjectMeta = metav1.ObjectMeta{Name: "hello", Namespace: "fleet-local"}
		b.Spec.Targets[0].ClusterSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"env": "dev"}}
		data, err := yaml.Marshal(b)
		Expect(err).NotTo(HaveOccurred())
		file := filepath.Join(GinkgoT().TempDir(), "bundle.yaml")
		Expect(os.WriteFile(file, data, 0o600)).To(Succeed())

		Expect(diff(1, admin, "-b", file)).To(And(
			ContainSubstring("against the Bundle in "+file), ContainSubstring("1 cluster: "+dev+"\nnothing changes"),
			ContainSubstring("2 clusters: "+prod1+", "+prod2+"\nno target selects it any more; release site/hello goes\nobjects: 0 changed, 0 added, 2 removed")))
		Expect(diff(1, admin, fresh, "-b", file)).To(ContainSubstring("nothing of the bundle is there; release site/hello comes\nobjects: 0 changed, 2 added, 0 removed"))
	})

	It("compares with a revision that is kept", func() {
		wants("zero", "hunter0")
		b := bundle()
		name, gz, sum, err := content.Pack(b.Spec.Resources)
		Expect(err).NotTo(HaveOccurred())
		Expect(client.IgnoreAlreadyExists(k8s.Create(bg, &v1alpha1.Content{ObjectMeta: metav1.ObjectMeta{Name: name}, Content: gz, SHA256Sum: sum, Size: int64(len(gz))}))).To(Succeed())
		r, err := revision.Of(b, metav1.OwnerReference{APIVersion: fleet.SchemeGroupVersion.String(), Kind: "Bundle", Name: b.Name, UID: b.UID}, name)
		Expect(err).NotTo(HaveOccurred())
		r.Number = 1
		cr, err := r.Build()
		Expect(err).NotTo(HaveOccurred())
		create(cr)
		create(r.Secret(cr))
		wants("one", "hunter2")
		Expect(diff(1, admin, dev, "--to-revision", "1")).To(And(
			ContainSubstring("against revision 1 ("+r.Hash+")"), ContainSubstring("-  text: one\n+  text: zero\n")))
		Expect(diff(3, admin, "--to-revision", "7")).To(ContainSubstring(`has no revision "7"; kept are: 1 (` + r.Hash))
	})

	It("names what is wrong on one cluster, and what right is missing", func() {
		wants("one", "hunter2")
		mc := &clusterv1.ManagedCluster{}
		Expect(k8s.Get(bg, types.NamespacedName{Name: prod2}, mc)).To(Succeed())
		mc.Labels = map[string]string{"env": "{{"}
		Expect(client.IgnoreNotFound(k8s.Delete(bg, mc))).To(Succeed())
		Expect(diff(1, admin)).To(ContainSubstring("1 cluster: " + prod2 + "\nno target selects it any more"))
		Expect(diff(3, admin, "nowhere")).To(ContainSubstring("there is no ManagedCluster nowhere"))
		Expect(diff(3, operator)).To(MatchRegexp(`you have no right to list (clustergroups|managedclusters)`))
		b := bundle()
		b.Spec.Helm.Values.Data["env"] = "${ .ClusterLabels.nothing }"
		Expect(k8s.Update(bg, b)).To(Succeed())
		Expect(diff(3, admin)).To(And(ContainSubstring("cannot be told: "), ContainSubstring("Error: what changes on 2 clusters could not be told")))
	})

	It("uses the values of a cluster", func() {
		wants("one", "hunter2")
		b := bundle()
		b.Spec.Helm.Values.Data["env"] = "${ .ClusterValues.stage }"
		Expect(k8s.Update(bg, b)).To(Succeed())
		mc := &clusterv1.ManagedCluster{}
		Expect(k8s.Get(bg, types.NamespacedName{Name: dev}, mc)).To(Succeed())
		mc.Annotations = map[string]string{v1alpha1.AnnotationClusterValues: "stage: playground"}
		Expect(k8s.Update(bg, mc)).To(Succeed())
		Expect(diff(1, admin, dev)).To(ContainSubstring("-  env: dev\n+  env: playground\n"))

		By("taking them from the config of its add-on")
		addOnOf(prod1, "agent", types.NamespacedName{Namespace: w.namespace, Name: "config"}, map[string]string{"stage": "theatre"})
		Expect(diff(1, admin, prod1)).To(ContainSubstring("-  env: prod\n+  env: theatre\n"))
	})
})
