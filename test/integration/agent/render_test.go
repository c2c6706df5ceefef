package agent_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/render"
)

// overlays selects the overlays of raw YAML.
func overlays(names ...string) func(*v1alpha1.BundleDeploymentSpec) {
	return func(s *v1alpha1.BundleDeploymentSpec) { s.Options.YAML = &fleet.YAMLOptions{Overlays: names} }
}

func kustomized(dir string) func(*v1alpha1.BundleDeploymentSpec) {
	return func(s *v1alpha1.BundleDeploymentSpec) { s.Options.Kustomize = &fleet.KustomizeOptions{Dir: dir} }
}

var _ = Describe("rendering", func() {
	It("deploys overlays, follows a change of them alone, and removes all", func() {
		b := newBundle(home, "overlays").pack(files(
			"a.yaml", configMap("a", "default"), "b.yaml", configMap("b", "default"),
			"templates/c.yaml", configMap("c", "{{ .Release.Name }}"),
			"overlays/dev/a_patch.yaml", "data: {value: dev}",
			"overlays/prod/a_patch.yaml", "[{op: replace, path: /data/value, value: prod}]",
			"overlays/prod/b_patch.yaml", "$patch: delete",
			"overlays/prod/d.yaml", configMap("d", "prod"),
		)).admit(overlays("dev"))
		b.ready()
		Expect([]string{b.value("a"), b.value("b"), b.value("c"), b.value("d")}).To(Equal([]string{"dev", "default", b.name, ""}))

		b.admit(overlays("dev", "prod")).ready()
		Expect([]string{b.value("a"), b.value("b"), b.value("c"), b.value("d")}).To(Equal([]string{"prod", "", b.name, "prod"}))
		Expect(b.history()).To(Equal([]string{"1 superseded", "2 deployed"}))

		b.admit(overlays("test"))
		Eventually(func() bool { return b.status().Terminal }).Should(BeTrue())
		Expect(b.status().Message).To(ContainSubstring(`yaml.overlays: there is no overlay "test", only dev, prod`))
		Expect(b.value("a")).To(Equal("prod"))

		b.remove()
		Eventually(b.history).Should(BeEmpty())
		Expect([]string{b.value("a"), b.value("c"), b.value("d")}).To(Equal([]string{"", "", ""}))
	})

	It("deploys a kustomization, upgrades it to another directory, and removes all", func() {
		b := newBundle(home, "kustomize").pack(files(
			"base/kustomization.yaml", "resources: [a.yaml]\nconfigMapGenerator: [{name: generated, literals: [value=base], options: {disableNameSuffixHash: true}}]",
			"base/a.yaml", configMap("a", "base"),
			"dev/kustomization.yaml", "namePrefix: dev-\nresources: [../base]",
			"prod/kustomization.yaml", "namePrefix: prod-\nresources: [../base]\npatches: [{path: a.yaml}]", "prod/a.yaml", configMap("a", "prod"),
		)).admit(kustomized("dev"))
		s := b.ready()
		Expect(s.Resources).To(BeEquivalentTo(2))
		Expect([]string{b.value("dev-a"), b.value("dev-generated")}).To(Equal([]string{"base", "base"}))
		Expect(b.object("dev-a").Labels).To(HaveKeyWithValue("fleet.open-cluster-management.io/bundle-deployment", b.name))

		b.admit(kustomized("prod")).ready()
		Expect([]string{b.value("prod-a"), b.value("prod-generated"), b.value("dev-a"), b.value("dev-generated")}).To(Equal([]string{"prod", "base", "", ""}))
		Expect(b.history()).To(Equal([]string{"1 superseded", "2 deployed"}))
		// What was kustomized is what the release is.
		last, err := b.helm().Last(b.name)
		Expect(err).NotTo(HaveOccurred())
		Expect(last.Manifest).To(And(ContainSubstring("name: prod-a"), ContainSubstring("value: prod")))

		b.refresh(func(s *v1alpha1.BundleDeploymentSpec) { s.Options.KeepResources = true })
		Eventually(func() string { return b.record().Labels["fleet.open-cluster-management.io/keep"] }).Should(Equal("true"))
		b.refresh(func(s *v1alpha1.BundleDeploymentSpec) { s.Options.KeepResources = false })
		Eventually(func() string { return b.record().Labels["fleet.open-cluster-management.io/keep"] }).Should(Equal("false"))
		Expect(b.history()).To(Equal([]string{"1 superseded", "2 deployed"}))

		b.remove()
		Eventually(b.history).Should(BeEmpty())
		Expect([]string{b.value("prod-a"), b.value("prod-generated")}).To(Equal([]string{"", ""}))
	})

	It("kustomizes a chart that came from elsewhere, and takes its next version beside it", func() {
		at := func(version string) string {
			return fmt.Sprintf(".chart/%x", sha256.Sum256([]byte("web:https://charts.example:"+version)))
		}
		values := []byte("who: world\n")
		sum := sha256.Sum256(values)
		Expect(c.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "values-of-kustomized", Namespace: home.namespace}, Data: map[string][]byte{"values.yaml": values}})).To(Succeed())
		version := func(v string) func(*v1alpha1.BundleDeploymentSpec) {
			return helmOptions(func(h *fleet.HelmOptions) { h.Chart, h.Repo, h.Version = "web", "https://charts.example", v })
		}
		b := newBundle(home, "kustomized").pack(files(
			at("1")+"/Chart.yaml", chartYAML, at("1")+"/templates/a.yaml", configMap("a", "1 {{ .Values.who }}"), at("1")+"/templates/b.yaml", configMap("b", "1"),
			at("2")+"/web/Chart.yaml", chartYAML, at("2")+"/web/templates/a.yaml", configMap("a", "2 {{ .Values.who }}"),
			"kustomization.yaml", "namePrefix: my-\nresources: [own.yaml]", "own.yaml", configMap("own", "x"),
		)).admit(version("1"), func(s *v1alpha1.BundleDeploymentSpec) {
			s.ValuesSecret, s.ValuesHash = "values-of-kustomized", hex.EncodeToString(sum[:])
		})
		b.ready()
		Expect([]string{b.value("my-a"), b.value("my-b"), b.value("my-own")}).To(Equal([]string{"1 world", "1", "x"}))

		b.admit(version("2")).ready()
		Expect([]string{b.value("my-a"), b.value("my-b"), b.value("my-own")}).To(Equal([]string{"2 world", "", "x"}))

		b.remove()
		Eventually(b.history).Should(BeEmpty())
		Expect([]string{b.value("my-a"), b.value("my-own")}).To(Equal([]string{"", ""}))
	})

	It("fetches nothing for a kustomization", func() {
		b := newBundle(home, "remote").pack(files("kustomization.yaml", "resources: [https://github.com/org/repo]")).admit()
		Eventually(func() bool { return b.status().Terminal }).Should(BeTrue())
		Expect(b.status().Message).To(ContainSubstring("kustomization.yaml: resources: https://github.com/org/repo is elsewhere"))
	})

	It("knows without a cluster which kinds of Kubernetes are in namespaces", func() {
		disco, err := discovery.NewDiscoveryClientForConfig(admin)
		Expect(err).NotTo(HaveOccurred())
		lists, err := disco.ServerPreferredResources()
		Expect(err).NotTo(HaveOccurred())
		var crds unstructured.UnstructuredList
		crds.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinitionList"})
		Expect(c.List(ctx, &crds)).To(Succeed())
		custom := make([]*unstructured.Unstructured, 0, len(crds.Items))
		for i := range crds.Items {
			custom = append(custom, &crds.Items[i])
		}
		scopes := render.BuiltIn(custom...)
		for _, list := range lists {
			gv, err := schema.ParseGroupVersion(list.GroupVersion)
			Expect(err).NotTo(HaveOccurred())
			for _, r := range list.APIResources {
				namespaced, err := scopes(gv.WithKind(r.Kind))
				Expect(err).NotTo(HaveOccurred())
				Expect(namespaced).To(Equal(r.Namespaced), "%s in %s", r.Kind, gv)
			}
		}
	})
})

// record is the Secret in which Helm keeps the newest revision.
func (b *bundle) record() *corev1.Secret {
	GinkgoHelper()
	var list corev1.SecretList
	Expect(c.List(ctx, &list, client.InNamespace(b.name), client.MatchingLabels{"owner": "helm", "status": "deployed"})).To(Succeed())
	Expect(list.Items).To(HaveLen(1))
	return &list.Items[0]
}
