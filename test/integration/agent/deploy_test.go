package agent_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	helmrelease "helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/content"
)

var _ = Describe("deploying", func() {
	It("installs raw YAML and answers for the admission", func() {
		b := newBundle(home, "raw").pack(files("a.yaml", configMap("a", "{{ one }}"), "b.json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}`)).admit()
		s := b.ready()
		Expect(b.value("a")).To(Equal("{{ one }}"))
		Expect(b.object("a").Labels).To(HaveKeyWithValue("fleet.open-cluster-management.io/bundle-deployment", b.name))
		Expect(s.Applied).To(BeTrue())
		Expect(s.Ready).To(BeTrue())
		Expect(s.AppliedDeploymentID).To(Equal(b.spec.DeploymentID))
		Expect(s.Soaked).To(Equal("0s"))
		Expect(s.Release).To(Equal(b.name + "/" + b.name + ":1"))
		Expect(s.Resources).To(BeEquivalentTo(2))
		Expect(time.Parse(time.RFC3339Nano, s.ReadySince)).Error().NotTo(HaveOccurred())
		Expect(b.history()).To(Equal([]string{"1 deployed"}))
	})

	It("writes nothing when nothing happens", func() {
		b := newBundle(home, "still").pack(files("a.yaml", configMap("a", "one"))).admit(minSuccess(time.Second))
		Eventually(func() string { return b.status().Soaked }).Should(Equal("1s"))
		Eventually(func() string { return home.condition("BundlesReady") }).ShouldNot(BeEmpty())
		version := b.get().ResourceVersion
		secrets := func() []string {
			var list corev1.SecretList
			Expect(c.List(ctx, &list, client.InNamespace(b.name))).To(Succeed())
			var out []string
			for _, s := range list.Items {
				out = append(out, s.Name+" "+s.ResourceVersion)
			}
			return out
		}
		before := secrets()
		Consistently(func() string { return b.get().ResourceVersion }).Should(Equal(version))
		Expect(secrets()).To(Equal(before))
	})

	It("upgrades a chart, removes what it lacks, and takes values from the Secret with their hash", func() {
		values := []byte("who: world\n")
		sum := sha256.Sum256(values)
		b := newBundle(home, "chart").
			pack(files("Chart.yaml", chartYAML, "values.yaml", "who: nobody", "templates/a.yaml", configMap("a", "hello {{ .Values.who }}"), "templates/b.yaml", configMap("b", "x"))).
			admit(func(s *v1alpha1.BundleDeploymentSpec) {
				s.ValuesSecret, s.ValuesHash = "values-of-chart", hex.EncodeToString(sum[:])
			})
		Eventually(b.verdict).Should(Equal("WaitApplied"))
		Expect(b.status().Message).To(ContainSubstring("Secret values-of-chart is not there yet"))
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "values-of-chart", Namespace: home.namespace}, StringData: map[string]string{"values.yaml": "who: old"}}
		Expect(c.Create(ctx, secret)).To(Succeed())
		Eventually(func() string { return b.status().Message }).Should(ContainSubstring("does not have the values of this admission yet"))
		Expect(b.history()).To(BeEmpty())
		secret.Data = map[string][]byte{"values.yaml": values}
		Expect(c.Update(ctx, secret)).To(Succeed())
		b.ready()
		Expect(b.value("a")).To(Equal("hello world"))

		b.pack(files("Chart.yaml", chartYAML, "templates/a.yaml", configMap("a", "bye {{ .Values.who }}"))).admit().ready()
		Expect(b.value("a")).To(Equal("bye world"))
		Expect(b.object("b")).To(BeNil())
		Expect(b.history()).To(Equal([]string{"1 superseded", "2 deployed"}))
	})

	It("fetches content from the hub, and tries again until it is there", func() {
		b := newBundle(home, "far").pack(files("a.yaml", configMap("a", "from afar")))
		inline := b.spec.Content.Inline
		_, _, sum, err := content.Pack(files("a.yaml", configMap("a", "from afar")))
		Expect(err).NotTo(HaveOccurred())
		b.admit(func(s *v1alpha1.BundleDeploymentSpec) { s.Content.Inline = nil })
		Eventually(b.verdict).Should(Equal("ErrApplied"))
		Expect(c.Create(ctx, &v1alpha1.Content{ObjectMeta: metav1.ObjectMeta{Name: b.spec.Content.Name}, Content: inline, SHA256Sum: sum, Size: int64(len(inline))})).To(Succeed())
		b.ready()
		Expect(b.value("a")).To(Equal("from afar"))
	})

	It("gives a new verdict, but no new revision, for a new admission of the same id", func() {
		b := newBundle(home, "again").pack(files("a.yaml", configMap("a", "one"))).admit()
		first := b.ready()
		second := b.admit().ready()
		Expect(second.Admission).NotTo(Equal(first.Admission))
		Expect(second.ReadySince).NotTo(Equal(first.ReadySince))
		Expect(b.history()).To(Equal([]string{"1 deployed"}))
	})

	It("reports a soak a second late, and judges it again when minSuccessTime changes", func() {
		b := newBundle(home, "soak").pack(files("a.yaml", configMap("a", "one"))).admit(minSuccess(time.Second))
		s := b.ready()
		Expect(s.Soaked).To(BeEmpty())
		seen := time.Now()
		Eventually(func() string { return b.status().Soaked }).Should(Equal("1s"))
		Expect(time.Since(seen)).To(BeNumerically(">", 1500*time.Millisecond))
		Expect(b.status().ReadySince).To(Equal(s.ReadySince))
		b.refresh(minSuccess(time.Hour))
		Eventually(func() string { return b.status().Soaked }).Should(BeEmpty())
		b.refresh(minSuccess(1500 * time.Millisecond))
		Eventually(func() string { return b.status().Soaked }).Should(Equal("1.5s"))
		Expect(b.status().ReadySince).To(Equal(s.ReadySince))
	})

	It("leaves everything as it is while paused, and still says how it is", func() {
		b := newBundle(home, "paused").pack(files("a.yaml", configMap("a", "one"))).admit()
		b.ready()
		b.refresh(func(s *v1alpha1.BundleDeploymentSpec) { s.Paused = true })
		Consistently(b.verdict).Should(Equal("Ready"))
		b.pack(files("a.yaml", configMap("a", "two"))).admit()
		Eventually(b.verdict).Should(Equal("WaitApplied"))
		Expect(b.status().Message).To(ContainSubstring("paused"))
		Consistently(func() string { return b.value("a") }).Should(Equal("one"))
		b.refresh(func(s *v1alpha1.BundleDeploymentSpec) { s.Paused = false }).ready()
		Expect(b.value("a")).To(Equal("two"))
	})

	It("moves a release that was renamed", func() {
		b := newBundle(home, "move").pack(files("a.yaml", configMap("a", "one"))).admit()
		b.ready()
		b.admit(helmOptions(func(h *fleet.HelmOptions) { h.ReleaseName = "renamed" })).ready()
		Eventually(b.history).Should(BeEmpty())
		Expect(b.status().Release).To(Equal(b.name + "/renamed:1"))
		Expect(b.value("a")).To(Equal("one"))
	})

	It("forces a namespace, and refuses cluster-scoped objects in it", func() {
		b := newBundle(home, "forced").pack(files("a.yaml", strings.Replace(configMap("a", "one"), "name: a", "name: a\n  namespace: default", 1)))
		b.admit(func(s *v1alpha1.BundleDeploymentSpec) { s.Options.TargetNamespace = b.name }).ready()
		Expect(b.value("a")).To(Equal("one"))
		b.pack(files("a.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: never}\n")).admit()
		Eventually(func() bool { return b.status().Terminal }).Should(BeTrue())
		Expect(b.status().Message).To(ContainSubstring("Namespace never: a cluster-scoped object cannot go into the namespace"))
	})
})

var _ = Describe("health", func() {
	const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
`
	report := func(b *bundle, ready int32) {
		GinkgoHelper()
		var d appsv1.Deployment
		Expect(c.Get(ctx, client.ObjectKey{Namespace: b.name, Name: "web"}, &d)).To(Succeed())
		Expect(d.Spec.Template.Labels).To(Equal(map[string]string{"app": "web"}))
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: ready, AvailableReplicas: ready,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
			},
		}
		Expect(c.Status().Update(ctx, &d)).To(Succeed())
	}

	It("follows a Deployment, and a loss of readiness starts the soak again", func() {
		b := newBundle(home, "web").pack(files("a.yaml", deployment)).admit(minSuccess(time.Second))
		Eventually(func() []v1alpha1.ObjectState { return b.status().NonReady }).Should(HaveLen(1))
		Eventually(func() string { return b.status().NonReady[0].State }).Should(Equal("InProgress"))
		Expect(b.status().Applied).To(BeTrue())
		Expect(b.verdict()).To(Equal("NotReady"))
		Expect(b.status().Message).To(HavePrefix("1 of 1 objects are not ready: Deployment.apps " + b.name + "/web InProgress"))
		report(b, 1)
		first := b.ready()
		Eventually(func() string { return b.status().Soaked }).Should(Equal("1s"))
		report(b, 0)
		Eventually(b.verdict).Should(Equal("NotReady"))
		Expect(b.status().ReadySince + b.status().Soaked).To(BeEmpty())
		report(b, 1)
		second := b.ready()
		Expect(second.ReadySince).NotTo(Equal(first.ReadySince))
		Eventually(func() string { return b.status().Soaked }).Should(Equal("1s"))
	})

	It("never takes the state before an upgrade for the state after it", func() {
		b := newBundle(home, "stale").pack(files("a.yaml", deployment)).admit()
		Eventually(b.verdict).Should(Equal("NotReady"))
		report(b, 1)
		b.ready()
		for range 5 {
			b.pack(files("a.yaml", strings.Replace(deployment, "image: web", "image: web"+b.spec.Admission, 1))).admit()
			Eventually(func() string { return b.status().Admission }).Should(Equal(b.spec.Admission))
			Consistently(b.verdict).WithTimeout(300 * time.Millisecond).WithPolling(5 * time.Millisecond).ShouldNot(Equal("Ready"))
			report(b, 1)
			b.ready()
		}
	})

	It("keeps a finished soak over a restart, without a write", func() {
		b := newBundle(home, "restart").pack(files("a.yaml", deployment)).admit(minSuccess(time.Second))
		Eventually(b.verdict).Should(Equal("NotReady"))
		report(b, 1)
		b.ready()
		Eventually(func() string { return b.status().Soaked }).Should(Equal("1s"))
		before := b.get().ResourceVersion
		home.stop()
		started := time.Now()
		home.start()
		Eventually(func() bool { return home.leaseTime().After(started) }).Should(BeTrue())
		Consistently(func() string { return b.get().ResourceVersion }).Should(Equal(before))
		Expect(b.history()).To(Equal([]string{"1 deployed"}))
	})

	It("notices an object that is gone", func() {
		b := newBundle(home, "gone").pack(files("a.yaml", configMap("a", "one"))).admit()
		b.ready()
		Expect(c.Delete(ctx, b.object("a"))).To(Succeed())
		Eventually(b.verdict).Should(Equal("NotReady"))
		Expect(b.status().NonReady[0].State).To(Equal("NotFound"))
	})
})

var _ = Describe("errors", func() {
	It("sticks to a terminal error until the next admission, over a restart too", func() {
		b := newBundle(home, "bad").pack(files("Chart.yaml", chartYAML, "templates/a.yaml", "{{ fail \"no way\" }}")).admit()
		Eventually(func() bool { return b.status().Terminal }).Should(BeTrue())
		Expect(b.verdict()).To(Equal("NotReady"))
		Expect(b.status().Message).To(ContainSubstring("no way"))
		Eventually(func() string { return home.condition("Degraded") }).Should(Equal("True BundlesFailed"))
		before := b.get().ResourceVersion
		home.stop()
		home.start()
		Consistently(func() string { return b.get().ResourceVersion }).WithTimeout(4 * time.Second).Should(Equal(before))
		b.pack(files("Chart.yaml", chartYAML, "templates/a.yaml", configMap("a", "one"))).admit().ready()
		Eventually(func() string { return home.condition("Degraded") }).Should(Equal("False NoBundleFailed"))
	})

	It("says nothing of values", func() {
		values := []byte("password: correct-horse-battery\n")
		sum := sha256.Sum256(values)
		Expect(c.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "values-of-leak", Namespace: home.namespace}, Data: map[string][]byte{"values.yaml": values}})).To(Succeed())
		b := newBundle(home, "leak").
			pack(files("Chart.yaml", chartYAML, "templates/a.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}], clusterIP: {{ .Values.password }}}\n")).
			admit(func(s *v1alpha1.BundleDeploymentSpec) {
				s.ValuesSecret, s.ValuesHash = "values-of-leak", hex.EncodeToString(sum[:])
			})
		Eventually(func() bool { return b.status().Terminal }).Should(BeTrue())
		Expect(b.status().Message).To(And(ContainSubstring("is invalid"), ContainSubstring("***"), Not(ContainSubstring("correct-horse"))))
	})

	It("fails on an immutable field, on somebody else's object and on an unsupported option", func() {
		immutable := func(v string) string { return configMap("a", v) + "immutable: true\n" }
		b := newBundle(home, "immutable").pack(files("a.yaml", immutable("one"))).admit()
		b.ready()
		b.pack(files("a.yaml", immutable("two"))).admit()
		Eventually(func() bool { return b.status().Terminal }).Should(BeTrue())
		Expect(b.status().Message).To(ContainSubstring("field is immutable"))
		Expect(b.status().Applied).To(BeFalse())

		Expect(c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "theirs", Namespace: b.name}})).To(Succeed())
		thief := newBundle(home, "thief").pack(files("a.yaml", configMap("theirs", "mine")))
		thief.admit(func(s *v1alpha1.BundleDeploymentSpec) { s.Options.DefaultNamespace = b.name })
		Eventually(func() bool { return thief.status().Terminal }).Should(BeTrue())
		Expect(thief.status().Message).To(ContainSubstring("invalid ownership metadata"))

		atomic := newBundle(home, "atomic").pack(files("a.yaml", configMap("a", "one"))).admit(helmOptions(func(h *fleet.HelmOptions) { h.Atomic = true }))
		Eventually(func() bool { return atomic.status().Terminal }).Should(BeTrue())
		Expect(atomic.status().Message).To(HavePrefix("spec.options: helm.atomic not supported"))
	})

	It("takes over the objects of a bundle that was renamed, once that is removed", func() {
		b := newBundle(home, "old-name").pack(files("a.yaml", configMap("a", "one"))).admit()
		b.ready()
		renamed := newBundle(home, "new-name").pack(files("a.yaml", configMap("a", "two")))
		renamed.admit(func(s *v1alpha1.BundleDeploymentSpec) { s.Options.DefaultNamespace = b.name })
		Eventually(renamed.verdict).Should(Equal("ErrApplied"))
		Expect(renamed.status().Terminal).To(BeFalse())
		Expect(renamed.status().Message).To(ContainSubstring("ConfigMap %s/a belongs to BundleDeployment %s", b.name, b.name))
		Expect(b.verdict()).To(Equal("Ready"))
		b.remove()
		renamed.ready()
		Expect(b.value("a")).To(Equal("two"))
	})

	It("renames a release whose objects take long to go", func() {
		b := newBundle(home, "slow").pack(files("a.yaml", configMap("a", "one"), "b.yaml", configMap("b", "one"))).admit()
		b.ready()
		hold := func(finalizers ...string) {
			a := b.object("a")
			before := a.DeepCopy()
			a.Finalizers = finalizers
			Expect(c.Patch(ctx, a, client.MergeFrom(before))).To(Succeed())
		}
		hold("example.com/hold")
		b.admit(helmOptions(func(h *fleet.HelmOptions) { h.ReleaseName = "renamed" }))
		Eventually(b.verdict).Should(Equal("ErrApplied"), func() string { return b.status().Message })
		Expect(b.status().Message).To(ContainSubstring("object is being deleted: ConfigMap %s/a", b.name))
		hold()
		b.ready()
		Expect(b.status().Release).To(HavePrefix(b.name + "/renamed:"))
		Expect(b.value("a")).To(Equal("one"))
		Expect(b.history()).To(BeEmpty())
	})

	It("tries again until a CRD is there", func() {
		b := newBundle(home, "crd").pack(files("a.yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n")).admit()
		Eventually(b.verdict).Should(Equal("ErrApplied"))
		Expect(b.status().Terminal).To(BeFalse())
		Expect(c.Create(ctx, &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
				Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name: "v1", Served: true, Storage: true,
					Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
				}},
			},
		})).To(Succeed())
		b.ready()
	})

	It("leaves a release alone that it did not make", func() {
		b := newBundle(home, "foreign").pack(files("a.yaml", configMap("a", "one")))
		Expect(c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.name}})).To(Succeed())
		Expect(b.helm().Create(&helmrelease.Release{Name: b.name, Namespace: b.name, Version: 1, Info: &helmrelease.Info{Status: helmrelease.StatusDeployed}})).To(Succeed())
		b.admit()
		Eventually(func() bool { return b.status().Terminal }).Should(BeTrue())
		Expect(b.status().Message).To(ContainSubstring("was not made by this add-on"))
		b.remove()
		Consistently(b.history).Should(Equal([]string{"1 deployed"}))
	})
})
