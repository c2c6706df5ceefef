package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/util/retry"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/cli"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

var worlds atomic.Int32

// world is a namespace with a Bundle and a Rollout that nobody works on.
type world struct {
	namespace string
}

func newWorld() *world {
	GinkgoHelper()
	w := &world{namespace: fmt.Sprintf("team-%d", worlds.Add(1))}
	create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})
	allow(w.namespace)
	create(&fleet.Bundle{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "hello"}})
	create(&v1alpha1.Rollout{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "hello"}})
	w.plan(func(s *v1alpha1.RolloutStatus) {
		*s = v1alpha1.RolloutStatus{
			Revision: "rev3", BundleRevision: "rev3", Source: "RolloutPolicy/stages", Done: "1/3", Reason: "NotReady", Message: "waiting for group stg",
			Counts: v1alpha1.StateCounts{Total: 3, Done: 1, Progressing: 1, Pending: 1},
			Lanes: []v1alpha1.LaneStatus{{Name: "stages", Type: "ProgressivePerGroup", Groups: []v1alpha1.GroupStatus{
				{Name: "dev", Open: true, Passed: true, Reason: "Complete", Message: "1 cluster is done", Counts: v1alpha1.StateCounts{Total: 1, Done: 1}},
				{Name: "stg", Open: true, Reason: "NotReady", Message: "1 of 1 cluster is progressing", Counts: v1alpha1.StateCounts{Total: 1, Progressing: 1}},
				{Name: "prod", Reason: "WaitingForGroup", Message: "waiting for group stg", Counts: v1alpha1.StateCounts{Total: 1, Pending: 1}},
			}}},
			Record: v1alpha1.RolloutRecord{CompletedRevision: "rev2"},
		}
	})
	return w
}

func (w *world) key() types.NamespacedName {
	return types.NamespacedName{Namespace: w.namespace, Name: "hello"}
}

func (w *world) rollout() *v1alpha1.Rollout {
	GinkgoHelper()
	r := &v1alpha1.Rollout{}
	Expect(k8s.Get(bg, w.key(), r)).To(Succeed())
	return r
}

// plan writes the Rollout's status, as a manager does that has seen the present spec.
func (w *world) plan(change func(*v1alpha1.RolloutStatus)) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		r := w.rollout()
		change(&r.Status)
		r.Status.ObservedGeneration = r.Generation
		return k8s.Status().Update(bg, r)
	})).To(Succeed())
}

// becomes sets the one condition of the Rollout that is True.
func becomes(condition string) func(*v1alpha1.RolloutStatus) {
	return func(s *v1alpha1.RolloutStatus) {
		s.Conditions = []metav1.Condition{{Type: condition, Status: metav1.ConditionTrue, Reason: "Test", LastTransitionTime: metav1.Now()}}
	}
}

// revision keeps a revision of the bundle, as the manager does.
func (w *world) revision(number int64, hash string) {
	GinkgoHelper()
	create(&appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: "hello-" + hash, Labels: work.Labels(w.key()),
			Annotations: map[string]string{
				v1alpha1.AnnotationBundle: w.key().String(), v1alpha1.AnnotationRevision: hash, v1alpha1.AnnotationCommit: "c0ffee" + hash,
			},
		},
		Revision: number, Data: runtime.RawExtension{Raw: []byte("{}")},
	})
}

// cluster is a ManagedCluster that is available; with a revision it has a work that
// was admitted and said nothing yet.
func (w *world) cluster(name, group, revision string) {
	GinkgoHelper()
	create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	mc := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	create(mc)
	mc.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue, Reason: "Test", LastTransitionTime: metav1.Now()}}
	Expect(k8s.Status().Update(bg, mc)).To(Succeed())
	if revision == "" {
		return
	}
	d := work.Deployment{
		Bundle: w.key(), Cluster: name, AgentNamespace: "agent", ID: "content:options", Revision: revision, Admission: "token",
		Place:  rollout.Place{Lane: "stages", GroupKey: rollout.GroupKey{Name: group}},
		Stamps: rollout.Stamps{AdmittedAt: time.Now().Add(-time.Minute)},
	}
	mw, err := work.Build(d)
	Expect(err).NotTo(HaveOccurred())
	create(mw)
}

// output is what a command has written so far.
type output struct {
	mu  sync.Mutex
	out bytes.Buffer
}

// Write makes an output safe to read while a command writes.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.Write(p)
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.String()
}

// run runs `fleetctl rollout` with someone's kubeconfig; it returns the text and the
// exit status. An error's text comes last.
func (w *world) run(kubeconfig string, args ...string) (string, int) {
	GinkgoHelper()
	o := &output{}
	status := w.start(bg, o, kubeconfig, args...)
	return o.text(), status
}

func (w *world) start(ctx context.Context, o *output, kubeconfig string, args ...string) int {
	return execute(ctx, o, append([]string{"rollout", "--kubeconfig", kubeconfig, "-n", w.namespace}, args...)...)
}

// execute runs fleetctl, and returns the exit status.
func execute(ctx context.Context, o *output, args ...string) int {
	cmd := cli.NewCommand(genericclioptions.IOStreams{In: strings.NewReader(""), Out: o, ErrOut: o})
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	status := cli.ExitStatus(err)
	if status == 3 {
		fmt.Fprintln(o, "Error:", err)
	}
	return status
}

// says runs a command that has to end with this status, and returns its text.
func (w *world) says(status int, kubeconfig string, args ...string) string {
	GinkgoHelper()
	text, got := w.run(kubeconfig, args...)
	Expect(got).To(Equal(status), text)
	return text
}
