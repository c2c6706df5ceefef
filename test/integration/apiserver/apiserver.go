// Package apiserver prepares the API server and etcd that a suite of this folder starts.
package apiserver

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// New is an environment with the project's CRDs and those in more files. It is not started yet.
func New(files ...string) *envtest.Environment {
	ginkgo.GinkgoHelper()
	env := Bare()
	env.CRDDirectoryPaths = append(files, filepath.Join("..", "..", "..", "manifests", "crds"))
	return env
}

// Bare is an environment with what Kubernetes itself has, and no more. It is not started yet.
func Bare() *envtest.Environment {
	ginkgo.GinkgoHelper()
	binaries := os.Getenv("FLEET_ENV_BIN")
	gomega.Expect(binaries).NotTo(gomega.BeEmpty(), "set FLEET_ENV_BIN to the folder with etcd and kube-apiserver (`make integration` builds them and sets it)")
	for _, name := range []string{"etcd", "kube-apiserver"} {
		gomega.Expect(filepath.Join(binaries, name)).To(gomega.BeARegularFile(), "FLEET_ENV_BIN has to hold etcd and kube-apiserver")
	}
	return &envtest.Environment{
		BinaryAssetsDirectory: binaries,
		ErrorIfCRDPathMissing: true,
	}
}

// API is the folder of OCM's API module, which has the CRDs.
func API() string {
	ginkgo.GinkgoHelper()
	const module = "open-cluster-management.io/api"
	out, err := exec.CommandContext(context.Background(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	gomega.Expect(err).NotTo(gomega.HaveOccurred(), "find module %s", module)
	return strings.TrimSpace(string(out))
}

// Log lets controllers and libraries write to Ginkgo's log, which shows them when a spec fails.
func Log() {
	klog.SetOutput(ginkgo.GinkgoWriter)
	klog.LogToStderr(false)
	ctrl.SetLogger(klog.NewKlogr())
}
