// Package cli_test runs fleetctl's commands against a real API server. No manager
// runs there: the tests write the status that the commands read.
package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/hub"
	"open-cluster-management.io/fleet-addon/test/integration/apiserver"
)

var bg = context.Background()

// operator may do what examples/rollout-operator says in the namespace of a test, admin
// everything; each is a kubeconfig file.
var operator, admin string

// writer may do what examples/bundle-author says in the namespace of a test; halfWriter
// without the Secrets, and reader may only read what a writer may write.
var writer, halfWriter, reader string

// k8s is the tests' own client.
var k8s client.Client

const (
	operatorUser   = "rollout-operator"
	authorUser     = "bundle-author"
	halfAuthorUser = "half-author"
	readerUser     = "reader"
)

func TestCLI(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "fleetctl")
}

var _ = BeforeSuite(func() {
	apiserver.Log()
	api := apiserver.API()
	env := apiserver.New(
		filepath.Join(api, "cluster", "v1", "0000_00_clusters.open-cluster-management.io_managedclusters.crd.yaml"),
		filepath.Join(api, "cluster", "v1beta1", "0000_03_clusters.open-cluster-management.io_placementdecisions.crd.yaml"),
		filepath.Join(api, "cluster", "v1beta2", "0000_00_clusters.open-cluster-management.io_managedclustersets.crd.yaml"),
		filepath.Join(api, "cluster", "v1beta2", "0000_01_clusters.open-cluster-management.io_managedclustersetbindings.crd.yaml"),
		filepath.Join(api, "addon", "v1beta1", "0000_01_addon.open-cluster-management.io_managedclusteraddons.crd.yaml"),
		filepath.Join(api, "addon", "v1beta1", "0000_02_addon.open-cluster-management.io_addondeploymentconfigs.crd.yaml"),
		filepath.Join(api, "work", "v1", "0000_00_work.open-cluster-management.io_manifestworks.crd.yaml"),
	)
	config, err := env.Start()
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(env.Stop)
	scheme, err := hub.NewScheme()
	Expect(err).NotTo(HaveOccurred())
	Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	k8s, err = client.New(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	operator = kubeconfig(env, config, envtest.User{Name: operatorUser})
	writer = kubeconfig(env, config, envtest.User{Name: authorUser})
	halfWriter = kubeconfig(env, config, envtest.User{Name: halfAuthorUser})
	reader = kubeconfig(env, config, envtest.User{Name: readerUser})
	admin = kubeconfig(env, config, envtest.User{Name: "root", Groups: []string{"system:masters"}})
})

// kubeconfig is a file with which a user reaches the API server.
func kubeconfig(env *envtest.Environment, config *rest.Config, user envtest.User) string {
	GinkgoHelper()
	authenticated, err := env.AddUser(user, config)
	Expect(err).NotTo(HaveOccurred())
	data, err := authenticated.KubeConfig()
	Expect(err).NotTo(HaveOccurred())
	file := filepath.Join(GinkgoT().TempDir(), user.Name)
	Expect(os.WriteFile(file, data, 0o600)).To(Succeed())
	return file
}

// allow gives the operator the example's Role in a namespace, and no other right.
func allow(namespace string) {
	GinkgoHelper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", "rollout-operator", "role.yaml"))
	Expect(err).NotTo(HaveOccurred())
	role := &rbacv1.Role{}
	Expect(yaml.UnmarshalStrict(data, role)).To(Succeed())
	role.Namespace = namespace
	create(role)
	create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: operatorUser}},
	})
}

func create(o client.Object) {
	GinkgoHelper()
	Expect(k8s.Create(bg, o)).To(Succeed())
}
