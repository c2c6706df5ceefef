package pods

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/fleet-addon/test/env/internal/pki"
)

// tokenSeconds is the lifetime that a kubelet asks for.
const tokenSeconds = 3607

// heldToken is renewed after four fifths of its life.
type heldToken struct {
	value string
	renew time.Time
}

func (p *pod) kubeconfig() string { return filepath.Join(p.dir, "kubeconfig") }

// syncIdentity writes kubeconfig and token of the pod's ServiceAccount. client-go reads the token file again every
// minute.
func (p *pod) syncIdentity(ctx context.Context) error {
	token, err := p.token(ctx, "")
	if err != nil {
		return err
	}
	file := filepath.Join(p.dir, "token")
	if err := writeFile(file, token); err != nil {
		return err
	}
	return pki.WriteKubeconfig(p.kubeconfig(), p.node.Cluster, p.node.Server, p.node.CA,
		pki.User{Name: p.account(), TokenFile: file, Namespace: p.object.Namespace})
}

func (p *pod) account() string {
	if name := p.object.Spec.ServiceAccountName; name != "" {
		return name
	}
	return "default"
}

// token is the pod's token for an audience, the API server's if empty; it is void once the pod is gone.
func (p *pod) token(ctx context.Context, audience string) (string, error) {
	now := time.Now()
	if held := p.tokens[audience]; now.Before(held.renew) {
		return held.value, nil
	}
	seconds := int64(tokenSeconds)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: &seconds,
		BoundObjectRef: &authenticationv1.BoundObjectReference{
			APIVersion: "v1", Kind: "Pod", Name: p.object.Name, UID: p.object.UID,
		},
	}}
	if audience != "" {
		request.Spec.Audiences = []string{audience}
	}
	response, err := p.node.Clients.CoreV1().ServiceAccounts(p.object.Namespace).
		CreateToken(ctx, p.account(), request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("token of ServiceAccount %s/%s: %w", p.object.Namespace, p.account(), err)
	}
	p.tokens[audience] = heldToken{value: response.Status.Token, renew: now.Add(tokenSeconds * time.Second * 4 / 5)}
	return response.Status.Token, nil
}
