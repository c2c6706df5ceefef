package ocm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/fleet-addon/test/env/internal/manifest"
)

// Accept creates the ManagedCluster as its administrator would: accepted, labelled, in the set.
func (m Managed) Accept(ctx context.Context) error {
	labels := map[string]any{"cluster.open-cluster-management.io/clusterset": m.Hub.ClusterSet}
	for key, value := range m.Labels {
		labels[key] = value
	}
	return m.Hub.Applier.Apply(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster",
		"metadata": map[string]any{"name": m.Plane.Name, "labels": labels},
		"spec":     map[string]any{"hubAcceptsClient": true, "leaseDurationSeconds": int64(m.LeaseSeconds)},
	}})
}

// ApproveCSRs approves the registration agent's requests until its hub kubeconfig is there.
func (m Managed) ApproveCSRs(ctx context.Context, limit time.Duration) error {
	return manifest.Poll(ctx, m.Plane.Name+"'s registration, see "+m.Plane.Log("registration-agent"), limit, func(ctx context.Context) (bool, error) {
		if m.registered() {
			return true, nil
		}
		api := m.Hub.Clients.CertificatesV1().CertificateSigningRequests()
		// Requests of add-ons are for the add-ons to approve.
		selector := "open-cluster-management.io/cluster-name=" + m.Plane.Name + ",!open-cluster-management.io/addon-name"
		list, err := api.List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return false, err
		}
		for _, csr := range list.Items {
			if len(csr.Status.Conditions) > 0 {
				continue
			}
			csr.Status.Conditions = append(csr.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
				Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "ApprovedByEnvironment",
			})
			if _, err := api.UpdateApproval(ctx, csr.Name, &csr, metav1.UpdateOptions{}); err != nil {
				return false, err
			}
		}
		return false, nil
	})
}

func (m Managed) registered() bool {
	for _, name := range []string{"kubeconfig", "tls.crt", "tls.key"} {
		if _, err := os.Stat(filepath.Join(m.hubDir(), name)); err != nil {
			return false
		}
	}
	return true
}

// Forget drops the identity that the cluster has on the hub, so that its registration agent registers it anew.
func (m Managed) Forget(ctx context.Context) error {
	err := m.Clients.CoreV1().Secrets(agentNamespace).Delete(ctx, "hub-kubeconfig-secret", metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if err := os.RemoveAll(m.hubDir()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// WaitAvailable waits until the hub says that the cluster joined and is available.
func (m Managed) WaitAvailable(ctx context.Context, limit time.Duration) error {
	return manifest.Poll(ctx, "ManagedCluster "+m.Plane.Name+" to be joined and available", limit, func(ctx context.Context) (bool, error) {
		cluster, err := m.Hub.Applier.Get(ctx, managedClusterKind, "", m.Plane.Name)
		if err != nil {
			return false, err
		}
		return manifest.ConditionTrue(cluster, "ManagedClusterJoined") && manifest.ConditionTrue(cluster, "ManagedClusterConditionAvailable"), nil
	})
}
