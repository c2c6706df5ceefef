package e2e

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

func kubectlSpecs() {
	It("answers what the README says", func(ctx context.Context) {
		t := newTenant("kubectl").gates(0, "None", 0).create(ctx)
		a := t.app("web")
		revision := a.apply(ctx)
		awaitComplete(ctx, a.key(), revision)

		By("where a rollout is, and why it is not further")
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			header, row := rowOf(g, kubectl(ctx, env.Hub, "get", "rollouts", "-A"), t.namespace)
			g.Expect(header).To(Equal([]string{"NAMESPACE", "NAME", "REVISION", "GROUP", "DONE", "REASON", "MESSAGE", "AGE"}))
			g.Expect(row).To(ContainElements(a.name, revision, "4/4", "Complete"))
		}).Should(Succeed())

		By("the same for every group")
		text := kubectl(ctx, env.Hub, "get", "rollout", a.name, "-n", t.namespace, "-o", "yaml")
		for _, group := range []string{"name: dev", "name: stg", "name: prod"} {
			Expect(text).To(ContainSubstring(group))
		}

		By("on how many clusters it is ready")
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			header, row := rowOf(g, kubectl(ctx, env.Hub, "get", "bundles", "-A"), t.namespace)
			g.Expect(header).To(Equal([]string{"NAMESPACE", "NAME", "BUNDLEDEPLOYMENTS-READY", "STATUS"}))
			g.Expect(row).To(ContainElements(a.name, "4/4"))
		}).Should(Succeed())

		By("what each cluster got")
		works := kubectl(ctx, env.Hub, "get", "manifestwork", "-A", "--no-headers", "-l",
			v1alpha1.LabelBundle+"="+a.name+","+v1alpha1.LabelBundleNamespace+"="+t.namespace)
		Expect(strings.Split(strings.TrimSpace(works), "\n")).To(HaveLen(len(every)))
		for _, name := range every {
			Expect(works).To(MatchRegexp(`(?m)^%s +web-[0-9a-f]{10} `, name))
		}

		By("whether the agents are there")
		addons := kubectl(ctx, env.Hub, "get", "managedclusteraddon", "-A")
		for _, name := range every {
			Expect(addons).To(MatchRegexp(`(?m)^%s +fleet +True`, name))
		}

		By("what the agent says, on the cluster")
		for _, m := range env.Clusters {
			_, row := rowOf(Default, kubectl(ctx, m, "get", "bundledeployments.fleet.open-cluster-management.io", "-A"), t.namespace+"/"+a.name)
			Expect(row).To(ContainElement("Ready"), "on %s", m.Name)
		}
	}, SpecTimeout(3*time.Minute))
}

func kubectl(ctx context.Context, m member, args ...string) string {
	GinkgoHelper()
	out, err := exec.CommandContext(ctx, env.Kubectl, append([]string{"--kubeconfig", m.Kubeconfig}, args...)...).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "kubectl %v: %s", args, out)
	GinkgoWriter.Printf("$ kubectl %s\n%s", strings.Join(args, " "), out)
	return string(out)
}

// rowOf returns the words of a table's header and of the row that has a word.
func rowOf(g Gomega, table, word string) (header, row []string) {
	GinkgoHelper()
	lines := strings.Split(strings.TrimSpace(table), "\n")
	for _, line := range lines[1:] {
		if strings.Contains(line, word) {
			return strings.Fields(lines[0]), strings.Fields(line)
		}
	}
	g.Expect(table).To(ContainSubstring(word))
	return nil, nil
}

// fleetctl runs a command as a user of the hub, and expects how it exits.
func fleetctl(ctx context.Context, status int, args ...string) string {
	GinkgoHelper()
	command := exec.CommandContext(ctx, filepath.Join("..", "..", "bin", "fleetctl"), append(args, "--kubeconfig", env.Hub.Kubeconfig)...)
	session, err := gexec.Start(command, GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	Eventually(ctx, session).Should(gexec.Exit(status), "fleetctl %v", args)
	return string(session.Out.Contents())
}
