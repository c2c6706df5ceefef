package addon

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	rbacapply "k8s.io/client-go/applyconfigurations/rbac/v1"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"
	rbaclisters "k8s.io/client-go/listers/rbac/v1"
	"open-cluster-management.io/addon-framework/pkg/agent"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// permissionName of the Role and the RoleBinding in each cluster's namespace.
const permissionName = "open-cluster-management:fleet-addon:agent"

// fieldManager of what this package applies.
const fieldManager = "fleet-addon"

// permissions grants an agent what it does in its cluster's namespace of the hub:
// read its own ManagedClusterAddOn and write its status. Reading Content is granted
// once for all agents, by the hub chart.
type permissions struct {
	client   rbacclient.RbacV1Interface
	roles    rbaclisters.RoleLister
	bindings rbaclisters.RoleBindingLister
}

// grant runs on every event of a ManagedClusterAddOn, first before its status has
// registrations; so it goes by the names that we register with, and writes only
// what differs.
func (p *permissions) grant(
	ctx context.Context, cluster *clusterv1.ManagedCluster, addon *addonv1beta1.ManagedClusterAddOn,
) error {
	if !addon.DeletionTimestamp.IsZero() {
		return nil
	}
	if err := p.ensureRole(ctx, cluster.Name, addon); err != nil {
		return fmt.Errorf("grant Role %s/%s: %w", cluster.Name, permissionName, err)
	}
	if err := p.ensureBinding(ctx, cluster.Name, addon); err != nil {
		return fmt.Errorf("grant RoleBinding %s/%s: %w", cluster.Name, permissionName, err)
	}
	return nil
}

func (p *permissions) ensureRole(ctx context.Context, namespace string, addon *addonv1beta1.ManagedClusterAddOn) error {
	rules := agentRules(addon.Name)
	have, err := p.roles.Roles(namespace).Get(permissionName)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if err == nil && owned(have.OwnerReferences, addon) && equality.Semantic.DeepEqual(have.Rules, rules) {
		return nil
	}
	want := rbacapply.Role(permissionName, namespace).
		WithLabels(map[string]string{addonv1beta1.AddonLabelKey: addon.Name}).
		WithOwnerReferences(owner(addon))
	for _, rule := range rules {
		want.WithRules(rbacapply.PolicyRule().WithAPIGroups(rule.APIGroups...).WithResources(rule.Resources...).
			WithResourceNames(rule.ResourceNames...).WithVerbs(rule.Verbs...))
	}
	_, err = p.client.Roles(namespace).Apply(ctx, want, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	return err
}

func (p *permissions) ensureBinding(ctx context.Context, namespace string, addon *addonv1beta1.ManagedClusterAddOn) error {
	group := agent.DefaultGroups(namespace, addon.Name)[0]
	have, err := p.bindings.RoleBindings(namespace).Get(permissionName)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if err == nil && owned(have.OwnerReferences, addon) && len(have.Subjects) == 1 &&
		have.Subjects[0].Kind == rbacv1.GroupKind && have.Subjects[0].Name == group {
		return nil
	}
	want := rbacapply.RoleBinding(permissionName, namespace).
		WithLabels(map[string]string{addonv1beta1.AddonLabelKey: addon.Name}).
		WithOwnerReferences(owner(addon)).
		WithRoleRef(rbacapply.RoleRef().WithAPIGroup(rbacv1.GroupName).WithKind("Role").WithName(permissionName)).
		WithSubjects(rbacapply.Subject().WithAPIGroup(rbacv1.GroupName).WithKind(rbacv1.GroupKind).WithName(group))
	_, err = p.client.RoleBindings(namespace).Apply(ctx, want, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	return err
}

// agentRules is all that an agent may do in its cluster's namespace.
func agentRules(addon string) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{
			APIGroups: []string{addonv1beta1.GroupName}, Resources: []string{"managedclusteraddons"},
			ResourceNames: []string{addon}, Verbs: []string{"get", "list", "watch"},
		},
		{
			APIGroups: []string{addonv1beta1.GroupName}, Resources: []string{"managedclusteraddons/status"},
			ResourceNames: []string{addon}, Verbs: []string{"patch"},
		},
	}
}

// owner makes the grant go with the add-on. It blocks nothing, so the manager needs
// no rights on finalizers for it.
func owner(addon *addonv1beta1.ManagedClusterAddOn) *metaapply.OwnerReferenceApplyConfiguration {
	return metaapply.OwnerReference().WithAPIVersion(schema.GroupVersion(addonv1beta1.GroupVersion).String()).WithKind("ManagedClusterAddOn").
		WithName(addon.Name).WithUID(addon.UID)
}

// owned is false for what an earlier ManagedClusterAddOn of the same name left: it
// is about to be collected.
func owned(refs []metav1.OwnerReference, addon *addonv1beta1.ManagedClusterAddOn) bool {
	for _, ref := range refs {
		if ref.UID == addon.UID {
			return true
		}
	}
	return false
}
