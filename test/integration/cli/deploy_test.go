package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/work"
	"open-cluster-management.io/fleet-addon/test/integration/apiserver"
)

var handed atomic.Int32

// handover is a bundle that is handed to a cluster as a file.
type handover struct {
	bundle  types.NamespacedName
	file    string
	options fleet.BundleDeploymentOptions
}

func newHandover() *handover {
	GinkgoHelper()
	h := &handover{
		bundle: types.NamespacedName{Namespace: "team", Name: fmt.Sprintf("hello-%d", handed.Add(1))},
		file:   filepath.Join(GinkgoT().TempDir(), "deployment.yaml"),
	}
	h.options.DefaultNamespace = h.bundle.Name
	return h
}

func (h *handover) owner() string { return work.Name(h.bundle) }

// write makes the file: a chart with a ConfigMap of the value, and more templates.
func (h *handover) write(value string, templates ...string) {
	GinkgoHelper()
	resources := []fleet.BundleResource{
		{Name: "Chart.yaml", Content: "apiVersion: v2\nname: hello\nversion: 1.0.0\n"},
		{Name: "templates/map.yaml", Content: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hello}\ndata: {value: '{{ .Values.value }}'}\n"},
	}
	for i, t := range templates {
		resources = append(resources, fleet.BundleResource{Name: fmt.Sprintf("templates/more-%d.yaml", i), Content: t})
	}
	name, gz, sum, err := content.Pack(resources)
	Expect(err).NotTo(HaveOccurred())
	options := h.options
	options.Helm = &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"value": value}}}
	mw, err := work.Build(work.Deployment{
		Bundle: h.bundle, Cluster: "c1", AgentNamespace: "agent", ID: name + ":" + value, Admission: "token",
		Content: v1alpha1.ContentSource{Name: name}, Options: options,
	})
	Expect(err).NotTo(HaveOccurred())
	objects := []any{&v1alpha1.Content{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Content"},
		ObjectMeta: metav1.ObjectMeta{Name: name}, Content: gz, SHA256Sum: sum,
	}}
	for _, m := range mw.Spec.Workload.Manifests {
		objects = append(objects, json.RawMessage(m.Raw))
	}
	h.put(objects...)
}

func (h *handover) put(objects ...any) {
	GinkgoHelper()
	var text []byte
	for _, o := range objects {
		data, err := yaml.Marshal(o)
		Expect(err).NotTo(HaveOccurred())
		text = append(append(text, "---\n"...), data...)
	}
	Expect(os.WriteFile(h.file, text, 0o600)).To(Succeed())
}

const web = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
`

var _ = Describe("fleetctl deploy", Ordered, func() {
	var bare *envtest.Environment
	var config *rest.Config
	var root string
	var c client.Client

	BeforeAll(func() {
		bare = apiserver.Bare()
		var err error
		config, err = bare.Start()
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(bare.Stop)
		c, err = client.New(config, client.Options{})
		Expect(err).NotTo(HaveOccurred())
		dir, err := os.MkdirTemp("", "bare")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(os.RemoveAll, dir)
		root = filepath.Join(dir, "kubeconfig")
		Expect(os.WriteFile(root, bare.KubeConfig, 0o600)).To(Succeed())
	})

	deploy := func(status int, kubeconfig string, h *handover, args ...string) string {
		GinkgoHelper()
		o := &output{}
		got := execute(bg, o, append([]string{"deploy", "--kubeconfig", kubeconfig, "-i", h.file}, args...)...)
		Expect(got).To(Equal(status), o.text())
		return o.text()
	}
	value := func(namespace string) string {
		GinkgoHelper()
		m := &corev1.ConfigMap{}
		Expect(c.Get(bg, types.NamespacedName{Namespace: namespace, Name: "hello"}, m)).To(Succeed())
		return m.Data["value"]
	}
	releases := func(namespace string) *storage.Storage {
		GinkgoHelper()
		k, err := kubernetes.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		return storage.Init(driver.NewSecrets(k.CoreV1().Secrets(namespace)))
	}

	It("deploys on a cluster that has no CRD of ours, again and anew", func() {
		h := newHandover()
		name := h.bundle.Name
		h.write("one")
		Expect(deploy(0, root, h)).To(And(
			ContainSubstring("Bundle team/"+name+" becomes release "+name+"/"+name+".\ninstalled\n"),
			ContainSubstring("release "+name+"/"+name+":1\n  ConfigMap hello\n"), Not(ContainSubstring("Warning"))))
		Expect(value(name)).To(Equal("one"))
		Expect(deploy(0, root, h)).To(And(ContainSubstring("deployed as wanted already"), ContainSubstring(name+":1\n")))
		h.write("two")
		Expect(deploy(0, root, h, "-o", "json", "--wait")).To(And(
			ContainSubstring("upgraded"), ContainSubstring(`"revision": 2`), ContainSubstring(`"kind": "ConfigMap"`), ContainSubstring("ready\n")))
		Expect(value(name)).To(Equal("two"))

		By("labels that no agent cleans up after")
		last, err := releases(name).Last(name)
		Expect(err).NotTo(HaveOccurred())
		Expect(last.Labels).To(And(
			HaveKeyWithValue(v1alpha1.GroupName+"/agent-namespace", "fleetctl"), HaveKeyWithValue(v1alpha1.GroupName+"/bundle-deployment", h.owner())))
	})

	It("upgrades a release that was left pending, and keeps its history", func() {
		h := newHandover()
		name := h.bundle.Name
		h.write("one")
		deploy(0, root, h)
		first, err := releases(name).Last(name)
		Expect(err).NotTo(HaveOccurred())
		first.SetStatus(helmrelease.StatusPendingInstall, "cut off")
		Expect(releases(name).Update(first)).To(Succeed())

		h.write("two")
		Expect(deploy(0, root, h)).To(And(ContainSubstring("left pending"), ContainSubstring("upgraded"), ContainSubstring(name+":2\n")))
		history, err := releases(name).History(name)
		Expect(err).NotTo(HaveOccurred())
		Expect(history).To(HaveLen(2))
		Expect(value(name)).To(Equal("two"))
	})

	It("moves a release whose namespace has changed", func() {
		h := newHandover()
		h.write("one")
		deploy(0, root, h)
		old := h.bundle.Name
		h.options.DefaultNamespace = ""
		h.write("two")
		Expect(deploy(0, root, h, "-n", old+"-new")).To(And(ContainSubstring("removed the release under its old name"), ContainSubstring("release "+old+"-new/"+old+":1")))
		Expect(value(old + "-new")).To(Equal("two"))
		Expect(releases(old).History(old)).Error().To(MatchError(driver.ErrReleaseNotFound))
	})

	It("waits, and says for what", func() {
		h := newHandover()
		h.write("one", web)
		Expect(deploy(3, root, h, "--wait", "--timeout", "2s")).To(And(
			ContainSubstring("waiting for Deployment.apps "+h.bundle.Name+"/web: InProgress"), ContainSubstring("is deployed and not ready: Deployment.apps")))

		d := &appsv1.Deployment{}
		Expect(c.Get(bg, types.NamespacedName{Namespace: h.bundle.Name, Name: "web"}, d)).To(Succeed())
		o := &output{}
		ended := make(chan int, 1)
		go func() {
			defer GinkgoRecover()
			ended <- execute(bg, o, "deploy", "--kubeconfig", root, "-i", h.file, "--wait")
		}()
		Eventually(o.text).WithTimeout(patient).Should(ContainSubstring("waiting for Deployment"))
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}, {Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"}},
		}
		Expect(c.Status().Update(bg, d)).To(Succeed())
		Eventually(ended).WithTimeout(patient).Should(Receive(Equal(0)))
	})

	It("leaves a release alone that somebody else made", func() {
		h := newHandover()
		h.write("one")
		Expect(c.Create(bg, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: h.bundle.Name}})).To(Succeed())
		Expect(releases(h.bundle.Name).Create(&helmrelease.Release{
			Name: h.bundle.Name, Namespace: h.bundle.Name, Version: 1, Info: &helmrelease.Info{Status: helmrelease.StatusDeployed},
		})).To(Succeed())
		Expect(deploy(3, root, h)).To(ContainSubstring("exists and was not made by this add-on"))
	})

	It("deploys what Fleet's own fleet target printed", func() {
		h := newHandover()
		h.write("one")
		var content, theirs map[string]any
		data, err := os.ReadFile(h.file)
		Expect(err).NotTo(HaveOccurred())
		Expect(yaml.Unmarshal(data, &content)).To(Succeed())
		content["apiVersion"] = fleet.SchemeGroupVersion.String()
		id := content["metadata"].(map[string]any)["name"].(string) + ":1234"
		Expect(yaml.Unmarshal(fmt.Appendf(nil, `
apiVersion: fleet.cattle.io/v1alpha1
kind: BundleDeployment
metadata:
  name: %[1]s
  namespace: cluster-fleet-local-local-1a3d67d0a899
  labels: {fleet.cattle.io/bundle-name: %[1]s, fleet.cattle.io/bundle-namespace: team, fleet.cattle.io/cluster: local}
spec:
  deploymentID: %[2]s
  stagedDeploymentID: %[2]s
  options: {defaultNamespace: %[1]s, helm: {values: {value: three}}, namespaceLabels: {}, ignore: {}}
`, h.bundle.Name, id), &theirs)).To(Succeed())
		h.put(theirs, content)
		Expect(deploy(0, root, h)).To(ContainSubstring("installed"))
		Expect(value(h.bundle.Name)).To(Equal("three"))
		By("the same release when it comes from our own target")
		h.write("four")
		Expect(deploy(0, root, h)).To(ContainSubstring("upgraded"))
		Expect(value(h.bundle.Name)).To(Equal("four"))
	})

	It("warns of Fleet's own agent", func() {
		Expect(c.Create(bg, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "cattle-fleet-system"}})).To(Succeed())
		h := newHandover()
		h.write("one")
		Expect(deploy(0, root, h)).To(MatchRegexp(`(?s)Warning: Fleet's own agent seems to run here.*installed`))
	})

	It("warns before it makes what an agent will remove", func() {
		h := newHandover()
		h.write("one")
		create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "agent-of-" + h.bundle.Name}})
		labels := map[string]string{"app.kubernetes.io/name": "fleet-addon-agent"}
		create(&appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: "agent-of-" + h.bundle.Name, Name: "fleet-addon-agent", Labels: labels},
			Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "agent"}}},
				},
			},
		})
		Expect(deploy(0, admin, h)).NotTo(ContainSubstring("Warning"))
		By("asking for the agent's label, while a BundleDeployment is there and while not")
		h = newHandover()
		h.write("one")
		agent := "agent-of-" + h.bundle.Name
		create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: agent}})
		Expect(deploy(0, admin, h, "--agent-namespace", agent)).To(MatchRegexp(
			`(?s)Warning: an agent that runs in namespace ` + agent + ` removes this release again.*installed`))
		create(&v1alpha1.BundleDeployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: agent, Name: h.owner()},
			Spec:       v1alpha1.BundleDeploymentSpec{Bundle: h.bundle.String(), DeploymentID: "x:y", Admission: "t", Content: v1alpha1.ContentSource{Name: "s-x"}},
		})
		Expect(deploy(0, admin, h, "--agent-namespace", agent)).To(ContainSubstring("it brings back what that says"))
		By("not taking the agent's release from it")
		Expect(deploy(3, admin, h)).To(And(ContainSubstring("deploys this bundle too"), ContainSubstring("belongs to BundleDeployment "+agent+"/"+h.owner())))
	})
})
