package release

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// adopt takes over a release that was refused, if an agent made it for the same
// BundleDeployment in another namespace and that is gone: the add-on's install
// namespace was changed. While it is there, the release is of another hub.
func (s *session) adopt(ctx context.Context) bool {
	top, _ := s.state.top()
	namespace := top.Labels[LabelAgent]
	if s.want.adopted || top.Labels[LabelOwner] != s.want.Owner.Name || namespace == "" {
		return false
	}
	_, err := s.dynamic.Resource(v1alpha1.GroupVersion.WithResource("bundledeployments")).Namespace(namespace).
		Get(ctx, s.want.Owner.Name, metav1.GetOptions{})
	s.want.adopted = apierrors.IsNotFound(err)
	return s.want.adopted
}
