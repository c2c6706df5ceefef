package e2e

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// The clusters, by group, in the order of the groups.
var (
	dev    = []string{"dev1", "dev2"}
	stg    = []string{"stg"}
	prod   = []string{"prod"}
	groups = [][]string{dev, stg, prod}
	every  = slices.Concat(groups...)
)

// environmentLabel puts a ManagedCluster into a group.
const environmentLabel = "environment"

// clusterSet that all clusters are in.
const clusterSet = "fleet"

// description is what of env.json the suite needs.
type description struct {
	Dir string `json:"dir"`
	// Socket is there if the clusters are local ones, which can play faults.
	Socket   string   `json:"socket"`
	Kubectl  string   `json:"kubectl"`
	Hub      member   `json:"hub"`
	Clusters []member `json:"clusters"`
}

type member struct {
	Name       string `json:"name"`
	Kubeconfig string `json:"kubeconfig"`
	AuditLog   string `json:"auditLog"`
}

var (
	// env says what the suite runs on.
	env description
	// hub and cluster have administrators' clients.
	hub      client.WithWatch
	clusters map[string]client.WithWatch
)

func (d description) local() bool { return d.Socket != "" }

// cluster of this name.
func (d description) cluster(name string) member {
	GinkgoHelper()
	i := slices.IndexFunc(d.Clusters, func(m member) bool { return m.Name == name })
	Expect(i).To(BeNumerically(">=", 0), "cluster %s", name)
	return d.Clusters[i]
}

// describeClusters reads what the suite runs on.
func describeClusters() (description, error) {
	if dir := os.Getenv("FLEET_E2E_ENV"); dir != "" {
		var d description
		data, err := os.ReadFile(filepath.Join(dir, "env.json"))
		if err != nil {
			return d, err
		}
		return d, json.Unmarshal(data, &d)
	}
	d := description{Kubectl: "kubectl", Hub: member{Name: "hub", Kubeconfig: os.Getenv("HUB_KUBECONFIG")}}
	if d.Hub.Kubeconfig == "" {
		return d, errors.New("set FLEET_E2E_ENV, or HUB_KUBECONFIG and CLUSTERS=NAME=KUBECONFIG,...: see `make e2e`")
	}
	for pair := range strings.SplitSeq(os.Getenv("CLUSTERS"), ",") {
		name, kubeconfig, _ := strings.Cut(pair, "=")
		d.Clusters = append(d.Clusters, member{Name: name, Kubeconfig: kubeconfig})
	}
	return d, nil
}

func connect() {
	GinkgoHelper()
	var err error
	env, err = describeClusters()
	Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	Expect(errors.Join(clientgoscheme.AddToScheme(scheme), fleet.AddToScheme(scheme), v1alpha1.AddToScheme(scheme),
		clusterv1.Install(scheme), clusterv1beta1.Install(scheme), clusterv1beta2.Install(scheme), workv1.Install(scheme),
		addonv1beta1.Install(scheme))).To(Succeed())
	hub = dial(scheme, env.Hub.Kubeconfig)
	clusters = map[string]client.WithWatch{}
	for _, m := range env.Clusters {
		clusters[m.Name] = dial(scheme, m.Kubeconfig)
	}
	Expect(slices.Sorted(maps.Keys(clusters))).To(Equal(slices.Sorted(slices.Values(every))), "the clusters of the suite")
}

func dial(scheme *runtime.Scheme, kubeconfig string) client.WithWatch {
	GinkgoHelper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	config.QPS, config.Burst = 100, 200
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	return c
}
