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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"open-cluster-management.io/addon-framework/pkg/utils"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/variables"
)

// bind lets the namespace use a set with clusters, each with labels and a namespace.
func (a *author) bind(clusters map[string]map[string]string) {
	GinkgoHelper()
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: a.namespace}}
	create(set)
	binding := &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: set.Name},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set.Name},
	}
	create(binding)
	binding.Status.Conditions = []metav1.Condition{{
		Type: clusterv1beta2.ClusterSetBindingBoundType, Status: metav1.ConditionTrue, Reason: "Test", LastTransitionTime: metav1.Now(),
	}}
	Expect(k8s.Status().Update(bg, binding)).To(Succeed())
	for name, labels := range clusters {
		create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: a.cluster(name)}})
		own := map[string]string{clusterv1beta2.ClusterSetLabel: set.Name}
		for key, value := range labels {
			own[key] = value
		}
		create(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: a.cluster(name), Labels: own}})
	}
}

// cluster is a name that no other test has.
func (a *author) cluster(name string) string { return a.namespace + "-" + name }

// addOn gives a cluster an add-on in a namespace, with customized variables in force.
func (a *author) addOn(cluster, namespace string, values map[string]string) {
	GinkgoHelper()
	addOnOf(a.cluster(cluster), namespace, types.NamespacedName{Namespace: a.namespace, Name: cluster}, values)
}

// addOnOf gives a ManagedCluster an add-on in a namespace, with the customized variables of
// a new config in force.
func addOnOf(cluster, namespace string, name types.NamespacedName, values map[string]string) {
	GinkgoHelper()
	config := &addonv1beta1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
	for name, value := range values {
		config.Spec.CustomizedVariables = append(config.Spec.CustomizedVariables, addonv1beta1.CustomizedVariable{Name: name, Value: value})
	}
	create(config)
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(variables.Kind)
	Expect(k8s.Get(bg, name, live)).To(Succeed())
	hash, err := utils.GetSpecHash(live)
	Expect(err).NotTo(HaveOccurred())
	addOn := &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: v1alpha1.AddOnName}}
	create(addOn)
	of := addonv1beta1.ConfigGroupResource{Group: utils.AddOnDeploymentConfigGVR.Group, Resource: utils.AddOnDeploymentConfigGVR.Resource}
	referent := addonv1beta1.ConfigReferent{Namespace: name.Namespace, Name: name.Name}
	addOn.Status.Namespace = namespace
	addOn.Status.ConfigReferences = []addonv1beta1.ConfigReference{{
		ConfigGroupResource: of, DesiredConfig: &addonv1beta1.ConfigSpecHash{ConfigReferent: referent, SpecHash: hash},
	}}
	Expect(k8s.Status().Update(bg, addOn)).To(Succeed())
}

// file writes a Bundle as it is on the hub.
func (a *author) file(name string, b *fleet.Bundle) string {
	GinkgoHelper()
	b.APIVersion, b.Kind = fleet.SchemeGroupVersion.String(), "Bundle"
	data, err := yaml.Marshal(b)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(filepath.Join(a.dir, name), data, 0o600)).To(Succeed())
	return name
}

var _ = Describe("fleetctl target, with a hub", func() {
	var a *author
	BeforeEach(func() {
		a = newAuthor()
		a.write("web", "helm: {values: {zone: '${ .ClusterValues.zone }', password: hunter2}}\n"+
			"targetCustomizations: [{name: edge, clusterGroup: edge}, {name: prod, clusterSelector: {matchLabels: {env: prod}}}]\n")
		create(&fleet.ClusterGroup{
			ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: "edge"},
			Spec:       fleet.ClusterGroupSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"kind": "edge"}}},
		})
		a.run(0, "apply", "-n", a.namespace, "-o", "bundle.yaml", "shop", "apps/web")
	})
	target := func(status int, args ...string) string {
		GinkgoHelper()
		return a.run(status, append([]string{"target", "--kubeconfig", admin, "--bundle-file", "bundle.yaml"}, args...)...)
	}

	It("prints what the clusters of the bound sets get", func() {
		other := newAuthor()
		other.bind(map[string]map[string]string{"p1": {"env": "prod"}})
		a.bind(map[string]map[string]string{"p1": {"env": "prod"}, "e1": {"kind": "edge"}, "lab": nil})
		a.addOn("p1", "agents", map[string]string{"zone": "south"})
		a.addOn("e1", "", map[string]string{"zone": "north"})
		text := target(0)
		Expect(text).To(And(
			ContainSubstring("cluster: "+a.cluster("p1")), ContainSubstring("cluster: "+a.cluster("e1")),
			Not(ContainSubstring(a.cluster("lab"))), Not(ContainSubstring(other.cluster("p1"))),
			ContainSubstring("namespace: agents"), ContainSubstring("namespace: open-cluster-management-agent-addon")))
		Expect(strings.Count(text, "kind: BundleDeployment")).To(Equal(2))
		Expect(target(0, "--cluster", a.cluster("e1"))).NotTo(ContainSubstring(a.cluster("p1")))
		Expect(target(0, "--explain")).To(And(
			ContainSubstring("cluster "+a.cluster("lab")+": is not deployed to"), ContainSubstring("cluster "+a.cluster("e1")+": is deployed to")))
	})

	It("tells of the clusters whose values nobody knows", func() {
		a.bind(map[string]map[string]string{"p1": {"env": "prod"}})
		Expect(target(3)).To(And(ContainSubstring("cluster "+a.cluster("p1")), ContainSubstring("zone")))
	})

	It("takes values of a Bundle from its Secret", func() {
		a.write("web", "helm: {values: {password: hunter2}}\n")
		a.bind(map[string]map[string]string{"p1": nil})
		a.apply(0, writer, "shop", "apps/web")
		live := a.bundle("web")
		file := a.file("live.yaml", live)
		Expect(a.run(0, "target", "--kubeconfig", admin, "-b", file)).To(And(
			ContainSubstring("kind: Secret"), ContainSubstring("has no targets of its own")))
		Expect(k8s.Delete(bg, a.secret("web"))).To(Succeed())
		Expect(a.run(3, "target", "--kubeconfig", admin, "-b", file)).To(ContainSubstring("spec.valuesHash: there is no Secret " + a.key("web").String()))
	})

	It("uses groups that a mapping lends, for clusters that both namespaces may use", func() {
		a.bind(map[string]map[string]string{"e1": {"kind": "edge"}})
		a.write("db", "targetCustomizations: [{name: lent, clusterGroup: lent}]\n")
		a.run(0, "apply", "-n", a.namespace, "-o", "bundle.yaml", "shop", "apps/db")
		lender := newAuthor()
		create(&fleet.ClusterGroup{
			ObjectMeta: metav1.ObjectMeta{Namespace: lender.namespace, Name: "lent"},
			Spec:       fleet.ClusterGroupSpec{Selector: &metav1.LabelSelector{}},
		})
		create(&fleet.BundleNamespaceMapping{
			ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: "lend"}, BundleSelector: &metav1.LabelSelector{},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": lender.namespace}},
		})
		Expect(target(0)).NotTo(ContainSubstring("kind: BundleDeployment"))
		binding := &clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: lender.namespace, Name: a.namespace},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: a.namespace},
		}
		create(binding)
		binding.Status.Conditions = []metav1.Condition{{
			Type: clusterv1beta2.ClusterSetBindingBoundType, Status: metav1.ConditionTrue, Reason: "Test", LastTransitionTime: metav1.Now(),
		}}
		Expect(k8s.Status().Update(bg, binding)).To(Succeed())
		Expect(target(0)).To(ContainSubstring("cluster: " + a.cluster("e1")))
	})

	It("says what is missing: a binding, and a right", func() {
		Expect(target(0)).To(ContainSubstring("has no ManagedClusterSetBinding"))
		Expect(a.run(3, "target", "--kubeconfig", writer, "-b", "bundle.yaml")).To(ContainSubstring(
			"you have no right to list managedclustersetbindings.cluster.open-cluster-management.io in namespace " + a.namespace))
	})
})
