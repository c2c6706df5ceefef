package e2e

import (
	"context"
	"fmt"
	"maps"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/target"
)

// Images of an app: one that runs and one that never becomes ready, which local clusters see to and others do not have.
const (
	goodImage = "registry.k8s.io/pause:3.10"
	badImage  = "registry.k8s.io/pause:never-ready"
)

// app is a bundle with a small chart: a ConfigMap with a message, and a Deployment with an image.
type app struct {
	namespace, name string
	// version is the chart's; it changes the content.
	version int
	// values for all clusters, and for single ones, by name.
	values map[string]any
	per    map[string]map[string]any
	// strategy is Fleet's own; nil for none.
	strategy *fleet.RolloutStrategy
	// implicit bundles have no targets and follow the Placement.
	implicit bool
}

func (t *tenant) app(name string) *app {
	return &app{namespace: t.namespace, name: name, version: 1, per: map[string]map[string]any{},
		values: map[string]any{"message": "hello", "image": goodImage}}
}

func (a *app) key() types.NamespacedName {
	return types.NamespacedName{Namespace: a.namespace, Name: a.name}
}

// next is another version of the chart.
func (a *app) next() *app {
	a.version++
	return a
}

// on sets values on one cluster only.
func (a *app) on(cluster string, values map[string]any) *app {
	merged := maps.Clone(a.per[cluster])
	if merged == nil {
		merged = map[string]any{}
	}
	maps.Copy(merged, values)
	a.per[cluster] = merged
	return a
}

func broken() map[string]any  { return map[string]any{"image": badImage} }
func working() map[string]any { return map[string]any{"image": goodImage} }

var chartFiles = map[string]string{
	"templates/configmap.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  message: {{ .Values.message | quote }}
  version: {{ .Chart.Version | quote }}
`,
	"templates/deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  selector:
    matchLabels: {app: {{ .Release.Name }}}
  template:
    metadata:
      labels: {app: {{ .Release.Name }}}
      annotations: {version: {{ .Chart.Version | quote }}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - name: main
          image: {{ .Values.image }}
`,
}

// bundle is the app as it is now.
func (a *app) bundle() *fleet.Bundle {
	b := &fleet.Bundle{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: a.name}}
	b.Spec.DefaultNamespace, b.Spec.RolloutStrategy = a.namespace, a.strategy
	b.Spec.Helm = &fleet.HelmOptions{ReleaseName: a.name, Values: &fleet.GenericMap{Data: maps.Clone(a.values)}}
	b.Spec.Resources = []fleet.BundleResource{{Name: "Chart.yaml",
		Content: fmt.Sprintf("apiVersion: v2\nname: app\nversion: %d.0.0\n", a.version)}}
	for _, name := range []string{"templates/configmap.yaml", "templates/deployment.yaml"} {
		b.Spec.Resources = append(b.Spec.Resources, fleet.BundleResource{Name: name, Content: chartFiles[name]})
	}
	if a.implicit {
		return b
	}
	for _, cluster := range every {
		if values := a.per[cluster]; values != nil {
			t := fleet.BundleTarget{Name: cluster, ClusterName: cluster}
			t.Helm = &fleet.HelmOptions{Values: &fleet.GenericMap{Data: maps.Clone(values)}}
			b.Spec.Targets = append(b.Spec.Targets, t)
		}
	}
	b.Spec.Targets = append(b.Spec.Targets, fleet.BundleTarget{Name: "all", ClusterSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: environmentLabel, Operator: metav1.LabelSelectorOpExists}}}})
	return b
}

// inEnvironment selects the clusters of groups.
func inEnvironment(names ...string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: environmentLabel, Operator: metav1.LabelSelectorOpIn, Values: names}}}
}

// apply writes the bundle and returns its revision.
func (a *app) apply(ctx context.Context) string {
	GinkgoHelper()
	b := a.bundle()
	apply(ctx, b)
	// What the API server fills in is part of what is hashed.
	Expect(hub.Get(ctx, a.key(), b)).To(Succeed())
	return revisionOf(b)
}

func revisionOf(b *fleet.Bundle) string {
	GinkgoHelper()
	name, _, _, err := content.Pack(b.Spec.Resources)
	Expect(err).NotTo(HaveOccurred())
	return target.Revision(b, name)
}

// rolloutOf reads the Rollout of a bundle; an empty one if there is none yet.
func rolloutOf(ctx context.Context, g Gomega, key types.NamespacedName) *v1alpha1.Rollout {
	r := &v1alpha1.Rollout{}
	g.Expect(client.IgnoreNotFound(hub.Get(ctx, key, r))).To(Succeed())
	return r
}

// awaitComplete waits until a revision is done on all clusters.
func awaitComplete(ctx context.Context, key types.NamespacedName, revision string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega, ctx context.Context) {
		r := rolloutOf(ctx, g, key)
		g.Expect(r.Status.Revision).To(Equal(revision))
		g.Expect(meta.IsStatusConditionTrue(r.Status.Conditions, v1alpha1.RolloutComplete)).To(BeTrue(),
			"%s: %s", r.Status.Reason, r.Status.Message)
	}).WithTimeout(3*patience).Should(Succeed(), "%s completes revision %s", key, revision)
}

// groupOf is one group of a rollout of one lane; an empty one if it is not there.
func groupOf(r *v1alpha1.Rollout, name string) v1alpha1.GroupStatus {
	for _, lane := range r.Status.Lanes {
		for _, g := range lane.Groups {
			if g.Name == name {
				return g
			}
		}
	}
	return v1alpha1.GroupStatus{}
}

// awaitGroup waits until the counts of a group are these, for a revision.
func awaitGroup(ctx context.Context, key types.NamespacedName, revision, group string, counts v1alpha1.StateCounts) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega, ctx context.Context) {
		r := rolloutOf(ctx, g, key)
		g.Expect(r.Status.Revision).To(Equal(revision))
		g.Expect(groupOf(r, group).Counts).To(Equal(counts), "%s: %s", r.Status.Reason, r.Status.Message)
	}).Should(Succeed(), "group %s of %s", group, key)
}

// settings is the app's ConfigMap on a cluster; nil if there is none.
func (a *app) settings(ctx context.Context, g Gomega, cluster string) *corev1.ConfigMap {
	c := &corev1.ConfigMap{}
	err := clusters[cluster].Get(ctx, a.key(), c)
	if apierrors.IsNotFound(err) {
		return nil
	}
	g.Expect(err).NotTo(HaveOccurred())
	return c
}

// version is the chart's version that a cluster runs; "" if it runs none.
func (a *app) runs(ctx context.Context, g Gomega, cluster string) string {
	if c := a.settings(ctx, g, cluster); c != nil {
		return c.Data["version"]
	}
	return ""
}

// objectsOn lists what of the app is left on a cluster: its objects, and Helm's own.
func (a *app) objectsOn(ctx context.Context, g Gomega, cluster string) []string {
	var left []string
	for _, o := range []client.Object{&corev1.ConfigMap{}, &appsv1.Deployment{}} {
		if err := clusters[cluster].Get(ctx, a.key(), o); err == nil {
			left = append(left, fmt.Sprintf("%T", o))
		} else {
			g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
		}
	}
	releases := &corev1.SecretList{}
	g.Expect(clusters[cluster].List(ctx, releases, client.InNamespace(a.namespace), client.MatchingLabels{"owner": "helm", "name": a.name})).To(Succeed())
	for _, s := range releases.Items {
		left = append(left, "Helm release "+s.Name)
	}
	return left
}

// chartVersion is what a cluster that runs this version of the app shows.
func (a *app) chartVersion() string { return fmt.Sprintf("%d.0.0", a.version) }
