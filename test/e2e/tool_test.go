package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
)

// tool is a command line that somebody uses in a folder.
type tool struct {
	program, dir string
	env          []string
}

// Programs: ours, and Fleet's own.
var (
	ourProgram   = filepath.Join("..", "..", "bin", "fleetctl")
	fleetProgram = filepath.Join("..", "..", ".local", "bin", "fleet")
)

// shell is a new folder and home, with no configuration and no cluster.
func shell(program string) tool {
	GinkgoHelper()
	t := tool{dir: GinkgoT().TempDir(), env: []string{"HOME=" + GinkgoT().TempDir(), "PATH=" + os.Getenv("PATH")}}
	return t.using(program)
}

// with is the same with further variables.
func (t tool) with(variables ...string) tool {
	t.env = append(append([]string{}, t.env...), variables...)
	return t
}

// on is the same as a user of a hub or a cluster.
func (t tool) on(m member) tool { return t.with("KUBECONFIG=" + m.Kubeconfig) }

// using is another program at the same place.
func (t tool) using(program string) tool {
	GinkgoHelper()
	absolute, err := filepath.Abs(program)
	Expect(err).NotTo(HaveOccurred())
	t.program = absolute
	return t
}

// copies one of the examples into the folder.
func (t tool) copies(example string) {
	GinkgoHelper()
	from := os.DirFS(filepath.Join("..", "..", "examples", example))
	Expect(os.CopyFS(filepath.Join(t.dir, example), from)).To(Succeed())
}

// writes a file into the folder.
func (t tool) writes(file, text string) {
	GinkgoHelper()
	Expect(os.WriteFile(filepath.Join(t.dir, file), []byte(text), 0o600)).To(Succeed())
}

// replaces a text of a file by another, once.
func (t tool) replaces(file, from, to string) {
	GinkgoHelper()
	path := filepath.Join(t.dir, file)
	data, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	Expect(string(data)).To(ContainSubstring(from), file)
	Expect(os.WriteFile(path, []byte(strings.Replace(string(data), from, to, 1)), 0o644)).To(Succeed())
}

// run expects that the command succeeds, and returns what it prints.
func (t tool) run(ctx context.Context, args ...string) string {
	GinkgoHelper()
	command := exec.CommandContext(ctx, t.program, args...)
	command.Dir, command.Env = t.dir, t.env
	session, err := gexec.Start(command, GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	Eventually(ctx, session).Should(gexec.Exit(0), "%s %v", t.program, args)
	return string(session.Out.Contents())
}
