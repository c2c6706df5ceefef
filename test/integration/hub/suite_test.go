// Package hub_test runs the hub's controllers against a real API server and etcd.
//
// Nobody else runs there: the tests play OCM's placement controller (they write
// PlacementDecisions and Placement.status), its registration controllers
// (ManagedCluster conditions, bound ManagedClusterSetBindings), the work agent and
// the agent of every cluster (ManifestWork finalizer, conditions and feedback), and
// the garbage collector where a test needs it.
package hub_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/hub"
	"open-cluster-management.io/fleet-addon/test/integration/apiserver"
)

var (
	// cfg is the managers' identity.
	cfg *rest.Config
	// adminCfg is the tests' own identity.
	adminCfg *rest.Config
	// k8s is the tests' own client: no cache, and not counted.
	k8s client.Client
)

func TestHub(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Hub controllers")
}

var _ = BeforeSuite(func() {
	apiserver.Log()
	api := apiserver.API()
	env := apiserver.New(
		filepath.Join(api, "cluster", "v1", "0000_00_clusters.open-cluster-management.io_managedclusters.crd.yaml"),
		filepath.Join(api, "cluster", "v1beta1", "0000_02_clusters.open-cluster-management.io_placements.crd.yaml"),
		filepath.Join(api, "cluster", "v1beta1", "0000_03_clusters.open-cluster-management.io_placementdecisions.crd.yaml"),
		filepath.Join(api, "cluster", "v1beta2", "0000_00_clusters.open-cluster-management.io_managedclustersets.crd.yaml"),
		filepath.Join(api, "cluster", "v1beta2", "0000_01_clusters.open-cluster-management.io_managedclustersetbindings.crd.yaml"),
		filepath.Join(api, "work", "v1", "0000_00_work.open-cluster-management.io_manifestworks.crd.yaml"),
	)
	env.CRDs = addOnCRDs(filepath.Join(api, "addon", "v1beta1"))
	admin, err := env.Start()
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(env.Stop)
	admin.QPS, admin.Burst = 500, 1000
	adminCfg = admin
	cfg = asManager(env, admin)
	cfg.QPS, cfg.Burst = 500, 1000

	scheme, err := hub.NewScheme()
	Expect(err).NotTo(HaveOccurred())
	Expect(apiextensionsv1.AddToScheme(scheme)).To(Succeed())
	k8s, err = client.New(admin, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
})

// addOnCRDs are the CRDs of the add-on API with v1beta1 as the stored version: on a
// hub a webhook converts, here nothing is ever stored as v1alpha1.
func addOnCRDs(dir string) []*apiextensionsv1.CustomResourceDefinition {
	files, err := filepath.Glob(filepath.Join(dir, "*.crd.yaml"))
	Expect(err).NotTo(HaveOccurred())
	Expect(files).NotTo(BeEmpty())
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		data, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		crd := &apiextensionsv1.CustomResourceDefinition{}
		Expect(yaml.Unmarshal(data, crd)).To(Succeed())
		crd.Spec.Conversion = nil
		for i := range crd.Spec.Versions {
			crd.Spec.Versions[i].Storage = crd.Spec.Versions[i].Name == "v1beta1"
		}
		out = append(out, crd)
	}
	return out
}
