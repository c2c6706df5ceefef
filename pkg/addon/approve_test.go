package addon

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	operatorv1 "open-cluster-management.io/api/operator/v1"
)

const (
	devUser   = "system:open-cluster-management:cluster:dev:addon:fleet:agent:fleet-agent"
	devGroup  = "system:open-cluster-management:cluster:dev:addon:fleet"
	allAgents = "system:open-cluster-management:addon:fleet"
)

type request struct {
	template x509.CertificateRequest
	csr      *certificatesv1.CertificateSigningRequest
}

// newRequest is what the klusterlet of cluster dev asks for.
func newRequest() *request {
	return &request{
		template: x509.CertificateRequest{
			Subject:  pkix.Name{CommonName: devUser, Organization: []string{devGroup, allAgents}},
			DNSNames: []string{"fleet.addon.open-cluster-management.io"},
		},
		csr: &certificatesv1.CertificateSigningRequest{
			ObjectMeta: metav1.ObjectMeta{
				Name: "addon-dev-fleet-x",
				Labels: map[string]string{
					clusterv1.ClusterNameLabelKey: "dev",
					addonv1beta1.AddonLabelKey:    "fleet",
				},
				Annotations: map[string]string{},
			},
			Spec: certificatesv1.CertificateSigningRequestSpec{
				SignerName: "kubernetes.io/kube-apiserver-client",
				Username:   "system:open-cluster-management:dev:agent1",
				Usages: []certificatesv1.KeyUsage{
					certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment, certificatesv1.UsageClientAuth,
				},
			},
		},
	}
}

func (r *request) build(t *testing.T) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	if r.csr.Spec.Request != nil {
		return r.csr
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &r.template, key)
	if err != nil {
		t.Fatal(err)
	}
	r.csr.Spec.Request = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	return r.csr
}

func TestApprove(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*request)
		want   bool
	}{
		"the agent of the cluster is approved":         {change: func(*request) {}, want: true},
		"an EC key needs no encipherment":              {change: func(r *request) { r.csr.Spec.Usages = requiredUsages }, want: true},
		"the gRPC server asks for the klusterlet":      {change: viaGRPC(grpcServer), want: true},
		"the annotation of anybody else means nothing": {change: viaGRPC("system:serviceaccount:evil:evil")},
		"a label of another cluster":                   {change: func(r *request) { r.csr.Labels[clusterv1.ClusterNameLabelKey] = "prod" }},
		"a label of another add-on":                    {change: func(r *request) { r.csr.Labels[addonv1beta1.AddonLabelKey] = "proxy" }},
		"no labels":                                    {change: func(r *request) { r.csr.Labels = nil }},
		"another signer":                               {change: func(r *request) { r.csr.Spec.SignerName = "kubernetes.io/kubelet-serving" }},
		"server auth":                                  {change: func(r *request) { r.csr.Spec.Usages = append(r.csr.Spec.Usages, certificatesv1.UsageServerAuth) }},
		"no client auth":                               {change: func(r *request) { r.csr.Spec.Usages = r.csr.Spec.Usages[:2] }},
		"the klusterlet of another cluster":            {change: func(r *request) { r.csr.Spec.Username = "system:open-cluster-management:prod:agent1" }},
		"a cluster whose name begins the same":         {change: func(r *request) { r.csr.Spec.Username = "system:open-cluster-management:dev2:agent1" }},
		"a requester with more parts":                  {change: func(r *request) { r.csr.Spec.Username = "system:open-cluster-management:dev:addon:fleet" }},
		"a requester without an agent":                 {change: func(r *request) { r.csr.Spec.Username = "system:open-cluster-management:dev:" }},
		"the name of another cluster's agent": {change: func(r *request) {
			r.template.Subject.CommonName = "system:open-cluster-management:cluster:prod:addon:fleet:agent:fleet-agent"
		}},
		"the name of another agent":      {change: func(r *request) { r.template.Subject.CommonName = "system:admin" }},
		"one group more":                 {change: orgs(devGroup, allAgents, "system:masters")},
		"authenticated is a group more":  {change: orgs(devGroup, allAgents, "system:authenticated")},
		"one group fewer":                {change: orgs(devGroup)},
		"the group of another cluster":   {change: orgs("system:open-cluster-management:cluster:prod:addon:fleet", allAgents)},
		"no DNS name":                    {change: func(r *request) { r.template.DNSNames = nil }, want: true},
		"the DNS name of a server":       {change: func(r *request) { r.template.DNSNames = append(r.template.DNSNames, "hub.example.com") }},
		"the DNS name of another add-on": {change: func(r *request) { r.template.DNSNames = []string{"proxy.addon.open-cluster-management.io"} }},
		"an address":                     {change: func(r *request) { r.template.EmailAddresses = []string{"root@example.com"} }},
		"no PEM":                         {change: func(r *request) { r.csr.Spec.Request = []byte("x") }},
		"a certificate":                  {change: func(r *request) { r.csr.Spec.Request = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE"}) }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRequest()
			tc.change(r)
			cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "dev"}}
			if got := approve(context.Background(), cluster, newAddon(), r.build(t)); got != tc.want {
				t.Errorf("approve() = %t, want %t", got, tc.want)
			}
		})
	}
}

func viaGRPC(user string) func(*request) {
	return func(r *request) {
		r.csr.Spec.Username = user
		r.csr.Annotations[operatorv1.CSRUsernameAnnotation] = "system:open-cluster-management:dev:agent1"
	}
}

func orgs(groups ...string) func(*request) {
	return func(r *request) { r.template.Subject.Organization = groups }
}
