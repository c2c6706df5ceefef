package addon

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
)

func TestGrant(t *testing.T) {
	ctx := context.Background()
	kube := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(kube, 0)
	roles, bindings := factory.Rbac().V1().Roles(), factory.Rbac().V1().RoleBindings()
	p := &permissions{client: kube.RbacV1(), roles: roles.Lister(), bindings: bindings.Lister()}
	// The listers are filled by hand: what they see is part of each step.
	see := func() {
		role, err := kube.RbacV1().Roles("dev").Get(ctx, permissionName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		binding, err := kube.RbacV1().RoleBindings("dev").Get(ctx, permissionName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := roles.Informer().GetStore().Add(role); err != nil {
			t.Fatal(err)
		}
		if err := bindings.Informer().GetStore().Add(binding); err != nil {
			t.Fatal(err)
		}
	}
	grant := func(uid types.UID) []string {
		addon := newAddon()
		addon.UID = uid
		kube.ClearActions()
		if err := p.grant(ctx, newCluster(nil), addon); err != nil {
			t.Fatal(err)
		}
		var verbs []string
		for _, action := range kube.Actions() {
			verbs = append(verbs, action.GetVerb()+" "+action.GetResource().Resource)
		}
		return verbs
	}

	if diff := cmp.Diff([]string{"patch roles", "patch rolebindings"}, grant("addon-dev")); diff != "" {
		t.Errorf("first (-want +got):\n%s", diff)
	}
	see()
	role, _ := roles.Lister().Roles("dev").Get(permissionName)
	if diff := cmp.Diff([]rbacv1.PolicyRule{
		{
			APIGroups: []string{"addon.open-cluster-management.io"}, Resources: []string{"managedclusteraddons"},
			ResourceNames: []string{"fleet"}, Verbs: []string{"get", "list", "watch"},
		},
		{
			APIGroups: []string{"addon.open-cluster-management.io"}, Resources: []string{"managedclusteraddons/status"},
			ResourceNames: []string{"fleet"}, Verbs: []string{"patch"},
		},
	}, role.Rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]metav1.OwnerReference{{
		APIVersion: "addon.open-cluster-management.io/v1beta1", Kind: "ManagedClusterAddOn", Name: "fleet", UID: "addon-dev",
	}}, role.OwnerReferences); diff != "" {
		t.Errorf("owner (-want +got):\n%s", diff)
	}
	binding, _ := bindings.Lister().RoleBindings("dev").Get(permissionName)
	if diff := cmp.Diff([]rbacv1.Subject{{
		APIGroup: "rbac.authorization.k8s.io", Kind: "Group", Name: "system:open-cluster-management:cluster:dev:addon:fleet",
	}}, binding.Subjects); diff != "" {
		t.Errorf("subjects (-want +got):\n%s", diff)
	}

	if got := grant("addon-dev"); len(got) != 0 {
		t.Errorf("unchanged, but %v", got)
	}
	role = role.DeepCopy()
	role.Rules = append(role.Rules, rbacv1.PolicyRule{Verbs: []string{"*"}})
	if err := roles.Informer().GetStore().Update(role); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"patch roles"}, grant("addon-dev")); diff != "" {
		t.Errorf("rules changed by hand (-want +got):\n%s", diff)
	}
	see()
	if diff := cmp.Diff([]string{"patch roles", "patch rolebindings"}, grant("another")); diff != "" {
		t.Errorf("the add-on was made anew (-want +got):\n%s", diff)
	}
}
