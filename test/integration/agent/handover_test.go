package agent_test

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/yaml"

	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/cli"
)

var _ = Describe("A release of fleetctl deploy", func() {
	deploy := func(b *bundle, args ...string) string {
		GinkgoHelper()
		spec := b.spec
		spec.DeploymentID = spec.Content.Name + ":by-hand"
		data, err := yaml.Marshal(&v1alpha1.BundleDeployment{
			TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "BundleDeployment"},
			ObjectMeta: metav1.ObjectMeta{Name: b.name}, Spec: spec,
		})
		Expect(err).NotTo(HaveOccurred())
		file := filepath.Join(GinkgoT().TempDir(), "deployment.yaml")
		Expect(os.WriteFile(file, data, 0o600)).To(Succeed())
		streams, _, _, said := genericclioptions.NewTestIOStreams()
		cmd := cli.NewCommand(streams)
		cmd.SetArgs(append([]string{"deploy", "-i", file, "--kubeconfig", b.site.ownAdmin}, args...))
		Expect(cmd.ExecuteContext(ctx)).To(Succeed())
		return said.String()
	}

	It("stays while the agent has no BundleDeployment for it, and becomes the agent's with one", func() {
		b := newBundle(home, "handed").pack(files("a.yaml", configMap("a", "one")))
		Expect(deploy(b)).NotTo(ContainSubstring("Warning"))
		Consistently(func() string { return b.value("a") }).Should(Equal("one"))

		b.pack(files("a.yaml", configMap("a", "two"))).admit()
		b.ready()
		Expect(b.history()).To(Equal([]string{"1 superseded", "2 deployed"}))
		Expect(b.value("a")).To(Equal("two"))
		last, err := b.helm().Last(b.name)
		Expect(err).NotTo(HaveOccurred())
		Expect(last.Labels).To(HaveKeyWithValue("fleet.open-cluster-management.io/agent-namespace", home.namespace))
	})

	It("is removed by the agent whose label it got, as the command warns", func() {
		b := newBundle(home, "handed").pack(files("a.yaml", configMap("a", "one")))
		Expect(deploy(b, "--agent-namespace", home.namespace)).To(ContainSubstring("removes this release again"))
		Eventually(b.history).Should(BeEmpty())
		Expect(b.object("a")).To(BeNil())
	})
})
