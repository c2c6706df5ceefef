// Package rights says which right is missing, where, and who gives it.
package rights

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Missing adds to an error of a missing right which one it is; other errors stay as they
// are. resource is the plural with its group, such as secrets or bundles.fleet.cattle.io;
// namespace is "" for all of them.
func Missing(err error, verb, resource, namespace string) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	where := "in namespace " + namespace
	if namespace == metav1.NamespaceAll {
		where = "in all namespaces"
	}
	return fmt.Errorf("you have no right to %s %s %s: ask an administrator of the hub for it (%w)", verb, resource, where, err)
}
