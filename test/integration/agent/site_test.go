package agent_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

var ctx = context.Background()

// site is a managed cluster: a namespace for its agent, and one on the hub with
// its ManagedClusterAddOn and an identity that may do exactly what registration
// grants.
type site struct {
	name, namespace     string
	hubConfig, ownAdmin string
	process             *exec.Cmd
	done                chan error
}

func newSite(name string) *site {
	s := &site{name: name, namespace: "agent-" + name}
	for _, ns := range []string{s.name, s.namespace} {
		Expect(c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})).To(Succeed())
	}
	Expect(c.Create(ctx, &addonv1beta1.ManagedClusterAddOn{
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.AddOnName, Namespace: s.name, Finalizers: []string{v1alpha1.FinalizerBundles}},
	})).To(Succeed())
	s.grant()

	dir := GinkgoT().TempDir()
	if name == "home" {
		// The suite's own site outlives the node that made it.
		var err error
		dir, err = os.MkdirTemp("", "fleet-agent")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(os.RemoveAll, dir)
	}
	user, err := cluster.AddUser(envtest.User{Name: "agent-of-" + name, Groups: []string{"addon-" + name}}, nil)
	Expect(err).NotTo(HaveOccurred())
	text, err := user.KubeConfig()
	Expect(err).NotTo(HaveOccurred())
	s.hubConfig = filepath.Join(dir, "hub")
	Expect(os.WriteFile(s.hubConfig, text, 0o600)).To(Succeed())
	s.ownAdmin = filepath.Join(dir, "admin")
	Expect(os.WriteFile(s.ownAdmin, cluster.KubeConfig, 0o600)).To(Succeed())
	return s
}

// grant gives the site's group what the agent needs on the hub, and no more.
func (s *site) grant() {
	group := rbacv1.Subject{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "addon-" + s.name}
	addOn := []string{"addon.open-cluster-management.io"}
	meta := metav1.ObjectMeta{Name: "fleet-agent", Namespace: s.name}
	Expect(c.Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: addOn, Resources: []string{"managedclusteraddons"}, ResourceNames: []string{"fleet"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: addOn, Resources: []string{"managedclusteraddons/status"}, ResourceNames: []string{"fleet"}, Verbs: []string{"patch"}},
	}})).To(Succeed())
	Expect(c.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: meta, Subjects: []rbacv1.Subject{group},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
	})).To(Succeed())
	wide := metav1.ObjectMeta{Name: "fleet-agent-" + s.name}
	Expect(c.Create(ctx, &rbacv1.ClusterRole{ObjectMeta: wide, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"contents"}, Verbs: []string{"get"}},
	}})).To(Succeed())
	Expect(c.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: wide, Subjects: []rbacv1.Subject{group},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: wide.Name},
	})).To(Succeed())
}

func (s *site) start() {
	GinkgoHelper()
	self, err := os.Executable()
	Expect(err).NotTo(HaveOccurred())
	s.process = exec.Command(self,
		"--hub-kubeconfig="+s.hubConfig, "--cluster-name="+s.name, "--namespace="+s.namespace,
		"--metrics-bind-address=0", "--health-probe-bind-address=0",
		"--report-interval=1s", "--content-jitter=100ms")
	s.process.Env = append(os.Environ(), envChild+"=1", "KUBECONFIG="+s.ownAdmin)
	s.process.Stdout, s.process.Stderr = GinkgoWriter, GinkgoWriter
	Expect(s.process.Start()).To(Succeed())
	s.done = make(chan error, 1)
	go func(p *exec.Cmd, done chan error) { done <- p.Wait() }(s.process, s.done)
}

// stop ends the agent gracefully.
func (s *site) stop() {
	GinkgoHelper()
	Expect(s.process.Process.Signal(syscall.SIGTERM)).To(Succeed())
	Eventually(s.done).Should(Receive(BeNil()))
}

// kill ends the agent at once; its leader lease is released for it, so that the
// next one need not wait until it runs out.
func (s *site) kill() {
	GinkgoHelper()
	Expect(s.process.Process.Kill()).To(Succeed())
	Eventually(s.done).Should(Receive())
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "fleet-agent-leader", Namespace: s.namespace}}
	Expect(client.IgnoreNotFound(c.Delete(ctx, lease))).To(Succeed())
}

// condition is "Status Reason" of a condition of the ManagedClusterAddOn.
func (s *site) condition(kind string) string {
	addOn := s.addOn()
	got := meta.FindStatusCondition(addOn.Status.Conditions, kind)
	if got == nil {
		return ""
	}
	return string(got.Status) + " " + got.Reason
}

func (s *site) addOn() *addonv1beta1.ManagedClusterAddOn {
	GinkgoHelper()
	var addOn addonv1beta1.ManagedClusterAddOn
	Expect(c.Get(ctx, client.ObjectKey{Namespace: s.name, Name: v1alpha1.AddOnName}, &addOn)).To(Succeed())
	return &addOn
}

func (s *site) leaseTime() time.Time {
	var lease coordinationv1.Lease
	if err := c.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: v1alpha1.AddOnName}, &lease); err != nil || lease.Spec.RenewTime == nil {
		return time.Time{}
	}
	return lease.Spec.RenewTime.Time
}
