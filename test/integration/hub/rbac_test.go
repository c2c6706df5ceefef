package hub_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// managerUser is who the manager is in these tests: it may do what rules say and
// no more, so that a right that the controllers need and the chart does not give
// cannot stay unnoticed.
const managerUser = "fleet-addon-manager"

// rules are what the hub's controllers need. What the add-on framework needs beside
// them is the chart's.
func rules() []rbacv1.PolicyRule {
	rule := func(group string, verbs []string, resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
	}
	named := func(r rbacv1.PolicyRule, name string) rbacv1.PolicyRule {
		r.ResourceNames = []string{name}
		return r
	}
	watch, read, patch := []string{"list", "watch"}, []string{"get", "list", "watch"}, []string{"patch"}
	return []rbacv1.PolicyRule{
		rule("fleet.cattle.io", read, "bundles"),
		rule("fleet.cattle.io", watch, "clustergroups", "bundlenamespacemappings"),
		rule("fleet.cattle.io", patch, "bundles/status"),
		rule("fleet.open-cluster-management.io", watch, "rolloutpolicies"),
		rule("fleet.open-cluster-management.io", append([]string{"create", "patch"}, read...), "rollouts"),
		rule("fleet.open-cluster-management.io", patch, "rolloutpolicies/status", "rollouts/status"),
		rule("fleet.open-cluster-management.io", append([]string{"create", "delete"}, read...), "contents"),
		rule("apps", append([]string{"create", "patch", "delete"}, read...), "controllerrevisions"),
		rule("", []string{"get", "create", "delete"}, "secrets"),
		rule("", watch, "namespaces"),
		rule("cluster.open-cluster-management.io", read, "managedclusters", "managedclustersets", "placements"),
		rule("cluster.open-cluster-management.io", watch, "managedclustersetbindings", "placementdecisions"),
		rule("work.open-cluster-management.io", append([]string{"create", "patch", "delete"}, read...), "manifestworks"),
		rule("addon.open-cluster-management.io", watch, "managedclusteraddons", "clustermanagementaddons", "addondeploymentconfigs"),
		named(rule("addon.open-cluster-management.io", patch, "managedclusteraddons"), "fleet"),
		named(rule("coordination.k8s.io", []string{"get"}, "leases"), "managed-cluster-lease"),
		rule("events.k8s.io", []string{"create", "patch"}, "events"),
	}
}

// asManager returns a config with the manager's identity and rights.
func asManager(env *envtest.Environment, admin *rest.Config) *rest.Config {
	GinkgoHelper()
	kube, err := kubernetes.NewForConfig(admin)
	Expect(err).NotTo(HaveOccurred())
	_, err = kube.RbacV1().ClusterRoles().Create(bg, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: managerUser}, Rules: rules(),
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = kube.RbacV1().ClusterRoleBindings().Create(bg, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: managerUser},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: managerUser},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: managerUser}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	user, err := env.AddUser(envtest.User{Name: managerUser}, admin)
	Expect(err).NotTo(HaveOccurred())
	return user.Config()
}
