package revision

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

// Name is the name of the ControllerRevision of a bundle's revision. Like the name of
// a work it ends in hashes, is no longer than 74 characters and is not shared by two
// bundles of the namespace.
func Name(bundle types.NamespacedName, hash string) string { return work.Name(bundle) + "-" + hash }

// SecretName is the name of the Secret with the values of the ControllerRevision.
func SecretName(name string) string { return name + "-values" }

// Hash is the bundle's revision that a ControllerRevision holds; "" if it says none.
func Hash(cr *appsv1.ControllerRevision) string { return cr.Annotations[v1alpha1.AnnotationRevision] }

// Is tells whether a ControllerRevision is one of this bundle, under the name that it
// has to have. Somebody's copy is none.
func Is(cr *appsv1.ControllerRevision, bundle types.NamespacedName) bool {
	return cr.Labels[v1alpha1.LabelBundle] != "" && cr.Namespace == bundle.Namespace &&
		cr.Annotations[v1alpha1.AnnotationBundle] == bundle.String() && cr.Name == Name(bundle, Hash(cr))
}
