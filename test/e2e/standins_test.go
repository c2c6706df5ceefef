package e2e

import (
	"context"
	"fmt"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/test/standin"
)

// standIns are ManagedClusters with nothing behind them, in a set of their own: real objects of a real hub, whose works this
// process marks applied and ready a moment after they were written. They are for questions that are about many clusters;
// what happens on a cluster is shown by the specs that use the real ones.
type standIns struct {
	namespace  string
	names      []string
	readyAfter time.Duration
}

// group gives the number of clusters that carry an environment label.
type standInGroup struct {
	environment string
	clusters    int
}

// withStandIns moves a tenant that is not yet created to clusters of its own.
func withStandIns(ctx context.Context, t *tenant, readyAfter time.Duration, groups ...standInGroup) *standIns {
	GinkgoHelper()
	t.set = t.namespace
	s := &standIns{namespace: t.namespace, readyAfter: readyAfter}
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: t.set}}
	Expect(hub.Create(ctx, set)).To(Succeed())
	DeferCleanup(func(ctx context.Context) { s.leave(ctx, set) }, NodeTimeout(patience))
	for _, g := range groups {
		for i := range g.clusters {
			name := fmt.Sprintf("%s-%s-%03d", t.namespace, g.environment, i)
			s.names = append(s.names, name)
			s.join(ctx, name, t.set, g.environment)
		}
	}
	s.start()
	return s
}

// join makes a ManagedCluster that OCM takes for available for the next hours.
func (s *standIns) join(ctx context.Context, name, set, environment string) {
	GinkgoHelper()
	Expect(hub.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	c := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		clusterv1beta2.ClusterSetLabel: set, environmentLabel: environment}}}
	c.Spec.HubAcceptsClient, c.Spec.LeaseDurationSeconds = true, 3600
	Expect(hub.Create(ctx, c)).To(Succeed())
	before := c.DeepCopy()
	meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
		Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue, Reason: "StandIn"})
	Expect(hub.Status().Patch(ctx, c, client.MergeFrom(before))).To(Succeed())
}

func (s *standIns) leave(ctx context.Context, set client.Object) {
	for _, name := range s.names {
		Expect(client.IgnoreNotFound(hub.Delete(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}))).To(Succeed())
		Expect(client.IgnoreNotFound(hub.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))).To(Succeed())
	}
	Expect(client.IgnoreNotFound(hub.Delete(ctx, set))).To(Succeed())
}

// start plays the clusters until the spec ends.
func (s *standIns) start() {
	GinkgoHelper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(done)
		for ctx.Err() == nil {
			s.follow(ctx)
		}
	}()
	DeferCleanup(func() {
		cancel()
		<-done
	})
}

// follow answers every work of the tenant's bundles that a watch shows.
func (s *standIns) follow(ctx context.Context) {
	w, err := hub.Watch(ctx, &workv1.ManifestWorkList{}, client.MatchingLabels{v1alpha1.LabelBundleNamespace: s.namespace})
	if err != nil {
		return
	}
	defer w.Stop()
	var answering sync.WaitGroup
	defer answering.Wait()
	answered := map[string]bool{}
	for event := range w.ResultChan() {
		mw, ok := event.Object.(*workv1.ManifestWork)
		if !ok || event.Type == watch.Deleted || !mw.DeletionTimestamp.IsZero() {
			continue
		}
		bd := standin.Deployment(mw)
		if bd == nil || answered[mw.Namespace+bd.Spec.Admission] {
			continue
		}
		answered[mw.Namespace+bd.Spec.Admission] = true
		answering.Go(func() { s.answer(ctx, mw, bd) })
	}
}

// answer makes one admission ready, and soaked when that is due.
func (s *standIns) answer(ctx context.Context, w *workv1.ManifestWork, bd *v1alpha1.BundleDeployment) {
	if !rest(ctx, s.readyAfter) {
		return
	}
	since := time.Now()
	s.report(ctx, w, bd, since)
	if minimum := standin.MinSuccessTime(bd); minimum > 0 && rest(ctx, minimum+time.Second) {
		s.report(ctx, w, bd, since)
	}
}

// report writes the status of a work unless it has another admission by now.
func (s *standIns) report(ctx context.Context, w *workv1.ManifestWork, bd *v1alpha1.BundleDeployment, since time.Time) {
	before := w.DeepCopy()
	standin.Report(w, bd, standin.Ready(bd, since, time.Now()))
	// The verdict names its admission: on a work that has another one by now it says nothing.
	if err := hub.Status().Patch(ctx, w, client.MergeFrom(before)); err != nil && ctx.Err() == nil {
		GinkgoWriter.Printf("stand-in %s: %v\n", w.Namespace, err)
	}
}

// rest is how long something takes on a cluster that is played; false when the spec is over.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
