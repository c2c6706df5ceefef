package addon

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	"open-cluster-management.io/addon-framework/pkg/agent"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	operatorv1 "open-cluster-management.io/api/operator/v1"
)

// grpcServer files the requests of clusters that registered over gRPC, and says in
// an annotation for whom. From anybody else that annotation means nothing.
const grpcServer = "system:serviceaccount:open-cluster-management-hub:grpc-server-sa"

// Usages of a client certificate. Key encipherment is for RSA keys only.
var (
	allowedUsages = []certificatesv1.KeyUsage{
		certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment, certificatesv1.UsageClientAuth,
	}
	requiredUsages = []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth}
)

// approve says whether a request is the agent's of this cluster and add-on. It
// never denies: what it does not know may be somebody else's to decide.
func approve(
	_ context.Context, cluster *clusterv1.ManagedCluster,
	addon *addonv1beta1.ManagedClusterAddOn, csr *certificatesv1.CertificateSigningRequest,
) bool {
	for _, check := range []func(string, string, *certificatesv1.CertificateSigningRequest) error{
		checkLabels, checkSigner, checkRequester, checkSubject,
	} {
		if err := check(cluster.Name, addon.Name, csr); err != nil {
			klog.InfoS("Certificate request not approved", "csr", csr.Name, "cluster", cluster.Name, "reason", err.Error())
			return false
		}
	}
	klog.InfoS("Certificate request approved", "csr", csr.Name, "cluster", cluster.Name)
	return true
}

func checkLabels(cluster, addon string, csr *certificatesv1.CertificateSigningRequest) error {
	for key, want := range map[string]string{
		clusterv1.ClusterNameLabelKey: cluster,
		addonv1beta1.AddonLabelKey:    addon,
	} {
		if got := csr.Labels[key]; got != want {
			return fmt.Errorf("label %s is %q, want %q", key, got, want)
		}
	}
	return nil
}

func checkSigner(_, _ string, csr *certificatesv1.CertificateSigningRequest) error {
	if csr.Spec.SignerName != certificatesv1.KubeAPIServerClientSignerName {
		return fmt.Errorf("signer is %q, want %q", csr.Spec.SignerName, certificatesv1.KubeAPIServerClientSignerName)
	}
	for _, usage := range csr.Spec.Usages {
		if !slices.Contains(allowedUsages, usage) {
			return fmt.Errorf("usage %q is not one of a client certificate", usage)
		}
	}
	for _, usage := range requiredUsages {
		if !slices.Contains(csr.Spec.Usages, usage) {
			return fmt.Errorf("usage %q is missing", usage)
		}
	}
	return nil
}

// checkRequester wants the klusterlet of this cluster, "PREFIX:CLUSTER:AGENT". A
// prefix alone would let cluster `prod` ask for `prod-eu`, or the other way round.
func checkRequester(cluster, _ string, csr *certificatesv1.CertificateSigningRequest) error {
	user := csr.Spec.Username
	if user == grpcServer {
		user = csr.Annotations[operatorv1.CSRUsernameAnnotation]
	}
	rest, found := strings.CutPrefix(user, "system:open-cluster-management:"+cluster+":")
	if !found || rest == "" || strings.Contains(rest, ":") {
		return fmt.Errorf("requester %q is not the klusterlet of cluster %s", user, cluster)
	}
	return nil
}

func checkSubject(cluster, addon string, csr *certificatesv1.CertificateSigningRequest) error {
	block, rest := pem.Decode(csr.Spec.Request)
	if block == nil || block.Type != "CERTIFICATE REQUEST" || len(strings.TrimSpace(string(rest))) > 0 {
		return errors.New("the request is not one PEM block CERTIFICATE REQUEST")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return fmt.Errorf("the request cannot be read: %w", err)
	}
	if want := agent.DefaultUser(cluster, addon, agentName); request.Subject.CommonName != want {
		return fmt.Errorf("common name is %q, want %q", request.Subject.CommonName, want)
	}
	// Exactly these groups: one more could be any group of the hub.
	got, want := sets.New(request.Subject.Organization...), sets.New(agent.DefaultGroups(cluster, addon)...)
	if !got.Equal(want) {
		return fmt.Errorf("organizations are %q, want %q", sets.List(got), sets.List(want))
	}
	return checkAlternativeNames(addon, request)
}

// checkAlternativeNames allows the one that klusterlets ask for, and nothing that
// names a server or another identity.
func checkAlternativeNames(addon string, request *x509.CertificateRequest) error {
	for _, name := range request.DNSNames {
		if want := addon + ".addon.open-cluster-management.io"; name != want {
			return fmt.Errorf("DNS name is %q, want none but %q", name, want)
		}
	}
	if len(request.IPAddresses)+len(request.EmailAddresses)+len(request.URIs) > 0 {
		return errors.New("a client certificate names no addresses")
	}
	return nil
}
