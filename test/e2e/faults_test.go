package e2e

import (
	"context"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
)

// fault has local clusters play a fault, through the command that runs them.
func fault(ctx context.Context, args ...string) {
	GinkgoHelper()
	command := exec.CommandContext(ctx, envCommand(), append([]string{"fault", "--dir", env.Dir}, args...)...)
	session, err := gexec.Start(command, GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	Eventually(ctx, session).WithTimeout(2 * patience).Should(gexec.Exit(0))
}

// envCommand is built by make, in the folder for what is built.
func envCommand() string { return filepath.Join("..", "..", "bin", "env") }

// needLocal skips a spec that needs a fault where there is none.
func needLocal() {
	if !env.local() {
		Skip("only local clusters can play this fault")
	}
}
