package hub_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/test/standin"
)

var bg = context.Background()

// update changes an object or its status, again after a conflict.
func update[T client.Object](object T, change func(T), status ...bool) {
	GinkgoHelper()
	Eventually(func() error {
		if err := k8s.Get(bg, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		change(object)
		if len(status) > 0 && status[0] {
			return k8s.Status().Update(bg, object)
		}
		return k8s.Update(bg, object)
	}).Should(Succeed())
}

const inStatus = true

// join plays OCM's registration: a ManagedCluster that is available, with its
// namespace, in a set, and with the add-on installed.
func join(set string, name, environment string) {
	GinkgoHelper()
	Expect(k8s.Create(bg, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	c := &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			clusterv1beta2.ClusterSetLabel: set, "environment": environment,
		}},
		Spec: clusterv1.ManagedClusterSpec{HubAcceptsClient: true},
	}
	Expect(k8s.Create(bg, c)).To(Succeed())
	setAvailable(name, metav1.ConditionTrue)
	a := &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: v1alpha1.AddOnName}}
	Expect(k8s.Create(bg, a)).To(Succeed())
	setAddOn(name, addonv1beta1.ManagedClusterAddOnConditionAvailable, metav1.ConditionTrue)
}

func clusterNamed(name string) *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func addOnOf(name string) *addonv1beta1.ManagedClusterAddOn {
	return &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: v1alpha1.AddOnName}}
}

// setAvailable plays OCM's registration, which also sets the taint.
func setAvailable(name string, status metav1.ConditionStatus) {
	GinkgoHelper()
	update(clusterNamed(name), func(c *clusterv1.ManagedCluster) {
		meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: status, Reason: "Test",
		})
	}, inStatus)
	update(clusterNamed(name), func(c *clusterv1.ManagedCluster) {
		c.Spec.Taints = nil
		if status != metav1.ConditionTrue {
			c.Spec.Taints = []clusterv1.Taint{{
				Key: clusterv1.ManagedClusterTaintUnreachable, Effect: clusterv1.TaintEffectNoSelect, TimeAdded: metav1.Now(),
			}}
		}
	})
}

func setAddOn(name, condition string, status metav1.ConditionStatus) {
	GinkgoHelper()
	update(addOnOf(name), func(a *addonv1beta1.ManagedClusterAddOn) {
		meta.SetStatusCondition(&a.Status.Conditions, metav1.Condition{Type: condition, Status: status, Reason: "Test"})
	}, inStatus)
}

// bind plays OCM: a set, and a binding that is bound to it.
func bind(namespace, set string) {
	GinkgoHelper()
	Expect(k8s.Create(bg, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: set}})).To(Succeed())
	b := &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: set},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
	}
	Expect(k8s.Create(bg, b)).To(Succeed())
	update(b, func(b *clusterv1beta2.ManagedClusterSetBinding) {
		meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{
			Type: clusterv1beta2.ClusterSetBindingBoundType, Status: metav1.ConditionTrue, Reason: "Test",
		})
	}, inStatus)
}

// group is a decision group of a Placement.
type group struct {
	name     string
	clusters []string
}

// decide plays OCM's placement controller: one PlacementDecision for each group,
// then the status of the Placement. Groups without clusters do not exist.
func decide(namespace, name string, groups ...group) {
	GinkgoHelper()
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	for _, g := range groups {
		p.Spec.DecisionStrategy.GroupStrategy.DecisionGroups = append(p.Spec.DecisionStrategy.GroupStrategy.DecisionGroups,
			clusterv1beta1.DecisionGroup{GroupName: g.name, ClusterSelector: clusterv1beta1.GroupClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"environment": g.name}},
			}})
	}
	if err := k8s.Create(bg, p); err != nil {
		Expect(apierrors.IsAlreadyExists(err)).To(BeTrue(), "%v", err)
	}
	var status []clusterv1beta1.DecisionGroupStatus
	total := 0
	for _, g := range groups {
		if len(g.clusters) == 0 {
			continue
		}
		index := len(status)
		d := fmt.Sprintf("%s-decision-%d", name, index+1)
		decision(namespace, name, d, g, index)
		status = append(status, clusterv1beta1.DecisionGroupStatus{
			DecisionGroupIndex: int32(index), DecisionGroupName: g.name, Decisions: []string{d}, ClustersCount: int32(len(g.clusters)),
		})
		total += len(g.clusters)
	}
	for extra := len(status) + 1; ; extra++ {
		d := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: fmt.Sprintf("%s-decision-%d", name, extra),
		}}
		if err := k8s.Delete(bg, d); err != nil {
			Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
			break
		}
	}
	update(p, func(p *clusterv1beta1.Placement) {
		p.Status.DecisionGroups, p.Status.NumberOfSelectedClusters = status, int32(total)
		meta.SetStatusCondition(&p.Status.Conditions, metav1.Condition{
			Type: clusterv1beta1.PlacementConditionSatisfied, Status: metav1.ConditionTrue, Reason: "AllDecisionsScheduled",
		})
	}, inStatus)
}

func decision(namespace, placement, name string, g group, index int) {
	GinkgoHelper()
	d := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{
		clusterv1beta1.PlacementLabel:          placement,
		clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(index),
		clusterv1beta1.DecisionGroupNameLabel:  g.name,
	}}}
	if err := k8s.Create(bg, d); err != nil {
		Expect(apierrors.IsAlreadyExists(err)).To(BeTrue(), "%v", err)
	}
	update(d, func(d *clusterv1beta1.PlacementDecision) {
		d.Status.Decisions = nil
		for _, c := range g.clusters {
			d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: c})
		}
	}, inStatus)
	update(d, func(d *clusterv1beta1.PlacementDecision) {
		d.Labels[clusterv1beta1.DecisionGroupIndexLabel] = strconv.Itoa(index)
		d.Labels[clusterv1beta1.DecisionGroupNameLabel] = g.name
	})
}

// behaviour of what runs on a cluster.
type behaviour string

const (
	healthy  behaviour = ""
	notReady behaviour = "notReady" // deploys, and never becomes ready
	silent   behaviour = "silent"   // does nothing at all
	refusing behaviour = "refusing" // the work agent cannot apply: the CRD is not there
)

const workFinalizer = "cluster.open-cluster-management.io/manifest-work-cleanup"

// spokes play the work agent and the agent on the clusters of one test.
type spokes struct {
	clusters []string
	mu       sync.Mutex
	acts     map[string]behaviour
	// since is when an admission became ready.
	since map[string]time.Time
}

// startSpokes runs until the test ends.
func startSpokes(clusters ...string) *spokes {
	s := &spokes{clusters: clusters, acts: map[string]behaviour{}, since: map[string]time.Time{}}
	ctx, cancel := context.WithCancel(bg)
	done := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(done)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			for _, c := range s.clusters {
				s.look(ctx, c)
				if n%20 == 0 {
					s.renew(ctx, c)
				}
			}
		}
	}()
	DeferCleanup(func() {
		cancel()
		<-done
	})
	return s
}

func (s *spokes) set(cluster string, b behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acts[cluster] = b
}

func (s *spokes) look(ctx context.Context, cluster string) {
	s.mu.Lock()
	act := s.acts[cluster]
	s.mu.Unlock()
	if act == silent {
		return
	}
	var list workv1.ManifestWorkList
	if err := k8s.List(ctx, &list, client.InNamespace(cluster)); err != nil {
		return
	}
	for i := range list.Items {
		w := &list.Items[i]
		// What fails, above all with a conflict, is tried again at the next tick.
		_ = s.act(ctx, w, act)
	}
}

// renew plays the klusterlet, which renews the cluster's lease.
func (s *spokes) renew(ctx context.Context, cluster string) {
	now := metav1.NowMicro()
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "managed-cluster-lease"}}
	if err := k8s.Get(ctx, client.ObjectKeyFromObject(l), l); err != nil {
		_ = k8s.Create(ctx, l) // if it failed, the next renewal is not far
		return
	}
	l.Spec.RenewTime = &now
	_ = k8s.Update(ctx, l)
}

func (s *spokes) act(ctx context.Context, w *workv1.ManifestWork, act behaviour) error {
	has := slices.Contains(w.Finalizers, workFinalizer)
	if !w.DeletionTimestamp.IsZero() {
		if !has {
			return nil
		}
		w.Finalizers = slices.DeleteFunc(w.Finalizers, func(f string) bool { return f == workFinalizer })
		return k8s.Update(ctx, w)
	}
	if !has {
		w.Finalizers = append(w.Finalizers, workFinalizer)
		return k8s.Update(ctx, w)
	}
	before := w.Status.DeepCopy()
	s.report(w, act)
	if equality.Semantic.DeepEqual(*before, w.Status) {
		return nil
	}
	return k8s.Status().Update(ctx, w)
}

func (s *spokes) report(w *workv1.ManifestWork, act behaviour) {
	if act == refusing {
		standin.Applied(w, metav1.ConditionFalse, "no such resource type")
		return
	}
	standin.Applied(w, metav1.ConditionTrue, "")
	bd := standin.Deployment(w)
	if bd == nil {
		return
	}
	verdict := standin.NotReady(bd)
	if act == healthy {
		key := w.Namespace + "/" + bd.Spec.Admission
		if s.since[key].IsZero() {
			s.since[key] = time.Now()
		}
		verdict = standin.Ready(bd, s.since[key], time.Now())
	}
	standin.Report(w, bd, verdict)
}

// deployment is the BundleDeployment in a work.
func deployment(w *workv1.ManifestWork) *v1alpha1.BundleDeployment { return standin.Deployment(w) }
