package cli_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("the completion of names", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	// complete asks what the shells' scripts ask, for the last of the words.
	complete := func(kubeconfig string, words ...string) string {
		GinkgoHelper()
		o := &output{}
		Expect(execute(bg, o, append([]string{"__complete", "rollout", "--kubeconfig", kubeconfig, "-n", w.namespace}, words...)...)).To(Equal(0))
		return o.text()
	}

	It("offers the bundles and revisions of the namespace, with rights there alone", func() {
		w.revision(1, "rev1")
		Expect(complete(operator, "status", "")).To(HavePrefix("hello\n:4\n"))
		Expect(complete(operator, "undo", "hello", "--to-revision", "")).To(HavePrefix("1\t1 (rev1, commit c0ffeerev1)\n:4\n"))
		Expect(complete(operator, "pause", "hello", "")).To(HavePrefix(":4\n"))
	})

	It("offers clusters and namespaces to those who may list them, and nothing to others", func() {
		w.cluster(w.namespace+"-c", "dev", "")
		Expect(complete(admin, "explain", "hello", "")).To(ContainSubstring(w.namespace + "-c\n"))
		Expect(complete(operator, "explain", "hello", "")).To(HavePrefix(":4\n"))
		Expect(complete(admin, "status", "hello", "-n", "")).To(ContainSubstring("kube-system\n"))
	})
})
