// Package agent_test runs the agent as a process of its own against a real API
// server, which is hub and managed cluster at once. There are no controllers, so
// that the specs decide themselves when a Deployment is ready.
package agent_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"open-cluster-management.io/fleet-addon/pkg/agent"
	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/test/integration/apiserver"
)

// envChild makes this test binary the agent, so that a spec can kill it.
const envChild = "FLEET_AGENT_CHILD"

var (
	cluster *envtest.Environment
	admin   *rest.Config
	c       client.Client
	home    *site
)

func TestMain(m *testing.M) {
	if os.Getenv(envChild) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cmd := agent.NewCommand()
	cmd.SetArgs(os.Args[1:])
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

func TestAgent(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	SetDefaultConsistentlyDuration(2 * time.Second)
	SetDefaultConsistentlyPollingInterval(100 * time.Millisecond)
	RunSpecs(t, "agent")
}

var _ = BeforeSuite(func() {
	cluster = apiserver.New(filepath.Join(apiserver.API(), "addon", "v1beta1", "0000_01_addon.open-cluster-management.io_managedclusteraddons.crd.yaml"))
	var err error
	admin, err = cluster.Start()
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(cluster.Stop)

	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1alpha1.AddToScheme, addonv1beta1.Install, apiextensionsv1.AddToScheme,
	} {
		Expect(add(scheme)).To(Succeed())
	}
	c, err = client.New(admin, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())

	home = newSite("home")
	home.start()
	DeferCleanup(home.stop)
})
