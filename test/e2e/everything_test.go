package e2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"helm.sh/helm/v3/pkg/chart"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/test/servers"
)

// everythingNamespace is where the bundles of examples/everything go.
const everythingNamespace = "everything"

// shape is what examples/everything puts on the clusters of one environment: ConfigMaps with their data, and Deployments
// with their replicas.
type shape struct {
	settings map[string]map[string]string
	replicas map[string]int32
}

// shapes by environment. The cluster's name stands for CLUSTER.
var shapes = map[string]shape{
	"dev": {
		settings: map[string]map[string]string{
			"dev-kustomized": {"environment": "dev"},
			"shop":           {"logLevel": "debug", "cluster": "CLUSTER", "address": "CLUSTER.dev.example.com", "environment": "dev"},
			"raw":            {"environment": "dev", "literal": "{{ .Values.replicas }}"},
			"motd":           {"message": "hello", "version": "1.2.9"},
		},
		replicas: map[string]int32{"dev-kustomized": 1, "shop": 1, "raw": 1},
	},
	"stg": {
		settings: map[string]map[string]string{
			"stg-kustomized": {"environment": "stg"},
			"shop":           {"logLevel": "info", "cluster": "CLUSTER", "address": "CLUSTER.stg.example.com", "environment": "stg"},
			"raw":            {"environment": "stg"},
			"motd":           {"message": "hello", "version": "1.2.9"},
		},
		replicas: map[string]int32{"stg-kustomized": 2, "shop": 2, "raw": 2},
	},
	"prod": {
		settings: map[string]map[string]string{
			"prod-kustomized": {"environment": "prod"},
			"shop":            {"logLevel": "warning", "cluster": "CLUSTER", "address": "CLUSTER.prod.example.com", "environment": "prod"},
			"raw":             {"environment": "prod"},
			"raw-prod":        {"only": "prod"},
			"motd":            {"message": "good day", "version": "1.2.9"},
		},
		replicas: map[string]int32{"prod-kustomized": 3, "shop": 3, "raw": 2},
	},
}

func everythingSpecs() {
	It("deploys kustomizations, charts, raw YAML and charts from elsewhere, each as its environment wants it", func(ctx context.Context) {
		const password = "open sesame"
		t := newTenant("everything").gates(0, "None", 0).create(ctx)
		repository := servers.NewRepository(GinkgoT(),
			servers.Options{Username: "reader", Password: password, Names: []string{"charts.example.com"}}, motd("1.2.0"), motd("1.2.9"), motd("1.3.0"))
		s := shell(ourProgram).on(env.Hub).with("HTTPS_PROXY=" + servers.Proxy(GinkgoT(), repository.Server))
		s.copies("everything")
		s.writes("password.txt", password+"\n")
		s.writes("ca.pem", string(repository.CA))

		s.run(ctx, "apply", "-n", t.namespace, "everything", "everything/kustomize", "everything/helm", "everything/raw", "everything/external",
			"--username", "reader", "--password-file", "password.txt", "--cacerts-file", "ca.pem", "--helm-repo-url-regex", `https://charts\.example\.com/`)

		for _, name := range []string{"kustomize", "helm", "raw", "external"} {
			key := types.NamespacedName{Namespace: t.namespace, Name: "everything-everything-" + name}
			Eventually(ctx, func(g Gomega, ctx context.Context) {
				r := rolloutOf(ctx, g, key)
				g.Expect(r.Status.Done).To(Equal("4/4"), "%s: %s", r.Status.Reason, r.Status.Message)
			}).WithTimeout(3*patience).Should(Succeed(), "%s is everywhere", key)
			awaitComplete(ctx, key, rolloutOf(ctx, Default, key).Status.Revision)
		}
		for _, group := range groups {
			for _, name := range group {
				Expect(shapeOf(ctx, name)).To(Equal(shapes[environmentOf(name)].on(name)), "what is on %s", name)
			}
		}
		expectNowhere(ctx, t.namespace, password)
	}, SpecTimeout(4*time.Minute))
}

// motd is the chart that examples/everything/external names.
func motd(version string) *chart.Chart {
	return servers.Chart(GinkgoT(), "motd", version, nil, "templates/configmap.yaml", `apiVersion: v1
kind: ConfigMap
metadata:
  name: motd
data:
  message: {{ .Values.message }}
  version: {{ .Chart.Version }}
`)
}

// on is the shape with a cluster's name in it.
func (s shape) on(cluster string) shape {
	out := shape{settings: map[string]map[string]string{}, replicas: s.replicas}
	for name, data := range s.settings {
		data = maps.Clone(data)
		for key, value := range data {
			data[key] = strings.ReplaceAll(value, "CLUSTER", cluster)
		}
		out.settings[name] = data
	}
	return out
}

// shapeOf is what is on a cluster.
func shapeOf(ctx context.Context, cluster string) shape {
	GinkgoHelper()
	out := shape{settings: map[string]map[string]string{}, replicas: map[string]int32{}}
	settings := &corev1.ConfigMapList{}
	Expect(clusters[cluster].List(ctx, settings, client.InNamespace(everythingNamespace))).To(Succeed())
	for _, o := range settings.Items {
		// Kubernetes puts this one into every namespace.
		if o.Name != "kube-root-ca.crt" {
			out.settings[o.Name] = o.Data
		}
	}
	deployments := &appsv1.DeploymentList{}
	Expect(clusters[cluster].List(ctx, deployments, client.InNamespace(everythingNamespace))).To(Succeed())
	for _, o := range deployments.Items {
		out.replicas[o.Name] = *o.Spec.Replicas
	}
	return out
}

func environmentOf(cluster string) string {
	return strings.TrimRight(cluster, "0123456789")
}

// expectNowhere asserts that nothing on the hub that belongs to the bundles of a namespace has a text in it.
func expectNowhere(ctx context.Context, namespace, text string) {
	GinkgoHelper()
	for _, list := range []client.ObjectList{&fleet.BundleList{}, &corev1.SecretList{}, &appsv1.ControllerRevisionList{}, &corev1.EventList{}} {
		Expect(hub.List(ctx, list, client.InNamespace(namespace))).To(Succeed())
		expectWithout(list, text)
	}
	for _, w := range worksOf(ctx, Default, namespace) {
		expectWithout(w, text)
	}
}

func expectWithout(object any, text string) {
	GinkgoHelper()
	data, err := json.Marshal(object)
	Expect(err).NotTo(HaveOccurred())
	for _, form := range []string{text, base64.StdEncoding.EncodeToString([]byte(text))} {
		Expect(strings.Contains(string(data), form)).To(BeFalse(), "%T has a secret in it", object)
	}
}
