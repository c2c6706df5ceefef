package hub_test

import (
	"fmt"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

const (
	soak    = time.Second
	patient = 40 * time.Second
)

var worlds atomic.Int32

// world is a namespace with clusters dev, stg and prod in a set, a Placement with a
// group for each, and a policy that goes through the groups in order.
type world struct {
	namespace, set string
	dev, stg, prod string
	spokes         *spokes
}

func newWorld() *world {
	GinkgoHelper()
	n := worlds.Add(1)
	w := &world{
		namespace: fmt.Sprintf("team-%d", n), set: fmt.Sprintf("set-%d", n),
		dev: fmt.Sprintf("dev-%d", n), stg: fmt.Sprintf("stg-%d", n), prod: fmt.Sprintf("prod-%d", n),
	}
	Expect(k8s.Create(bg, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})).To(Succeed())
	bind(w.namespace, w.set)
	join(w.set, w.dev, "dev")
	join(w.set, w.stg, "stg")
	join(w.set, w.prod, "prod")
	w.decide()
	policy := &v1alpha1.RolloutPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "stages"},
		Spec: v1alpha1.RolloutPolicySpec{
			BundleSelector: &metav1.LabelSelector{},
			PlacementRefs: []v1alpha1.PlacementRef{{Name: "stages", RolloutStrategy: v1alpha1.RolloutStrategy{
				Type: v1alpha1.StrategyProgressivePerGroup,
				ProgressivePerGroup: &v1alpha1.RolloutProgressivePerGroup{RolloutConfig: v1alpha1.RolloutConfig{
					MinSuccessTime: &metav1.Duration{Duration: soak},
				}},
			}}},
		},
	}
	Expect(k8s.Create(bg, policy)).To(Succeed())
	w.spokes = startSpokes(w.dev, w.stg, w.prod)
	DeferCleanup(w.clear)
	return w
}

// decide has the placement controller put each cluster into its group.
func (w *world) decide() {
	GinkgoHelper()
	decide(w.namespace, "stages", group{"dev", []string{w.dev}}, group{"stg", []string{w.stg}}, group{"prod", []string{w.prod}})
}

// clear removes what later tests would look after.
func (w *world) clear() {
	Expect(k8s.DeleteAllOf(bg, &fleet.Bundle{}, client.InNamespace(w.namespace))).To(Succeed())
	Expect(k8s.DeleteAllOf(bg, &v1alpha1.Rollout{}, client.InNamespace(w.namespace))).To(Succeed())
	for _, c := range []string{w.dev, w.stg, w.prod} {
		w.spokes.set(c, healthy)
		Expect(k8s.DeleteAllOf(bg, &workv1.ManifestWork{}, client.InNamespace(c))).To(Succeed())
	}
}

// deploy creates the bundle app, or changes what it deploys.
func (w *world) deploy(version string) {
	GinkgoHelper()
	resources := []fleet.BundleResource{{
		Name:    "cm.yaml",
		Content: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {version: " + version + "}\n",
	}}
	b := w.bundle()
	if k8s.Get(bg, w.key(), b) == nil {
		update(b, func(b *fleet.Bundle) { b.Spec.Resources = resources })
		return
	}
	b = w.bundle()
	b.Spec.Resources = resources
	Expect(k8s.Create(bg, b)).To(Succeed())
}

func (w *world) key() types.NamespacedName {
	return types.NamespacedName{Namespace: w.namespace, Name: "app"}
}

func (w *world) bundle() *fleet.Bundle {
	return &fleet.Bundle{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "app"}}
}

// work is the bundle's work on a cluster; nil if there is none.
func (w *world) work(cluster string) *workv1.ManifestWork {
	mw := &workv1.ManifestWork{}
	if err := k8s.Get(bg, client.ObjectKey{Namespace: cluster, Name: work.Name(w.key())}, mw); err != nil {
		Expect(client.IgnoreNotFound(err)).To(Succeed())
		return nil
	}
	return mw
}

// admitted is the token of the current admission on a cluster, "" without a work.
func (w *world) admitted(cluster string) string {
	if mw := w.work(cluster); mw != nil {
		return mw.Annotations[v1alpha1.AnnotationAdmission]
	}
	return ""
}

// id that is admitted on a cluster.
func (w *world) id(cluster string) string {
	if mw := w.work(cluster); mw != nil {
		return mw.Annotations[v1alpha1.AnnotationID]
	}
	return ""
}

func (w *world) rollout() *v1alpha1.Rollout {
	ro := &v1alpha1.Rollout{}
	_ = k8s.Get(bg, w.key(), ro)
	return ro
}

// completes waits until the rollout has been carried through.
func (w *world) completes() {
	GinkgoHelper()
	Eventually(func() string {
		ro := w.rollout()
		return ro.Status.Reason + " " + ro.Status.Done + " " + w.current().Status.Display.ReadyClusters
	}).WithTimeout(patient).Should(Equal("Complete 3/3 3/3"), func() string { return w.rollout().Status.Message })
}

func (w *world) current() *fleet.Bundle {
	b := &fleet.Bundle{}
	_ = k8s.Get(bg, w.key(), b)
	return b
}

// condition of a Bundle as "status reason: message".
func condition(b *fleet.Bundle, kind string) string {
	for _, c := range b.Status.Conditions {
		if c.Type == kind {
			return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
		}
	}
	return ""
}
