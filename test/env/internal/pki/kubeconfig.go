package pki

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// User is how a kubeconfig proves who it is: a client certificate, a token, or a file whose token is read again and
// again.
type User struct {
	Name      string
	Cert, Key []byte
	Token     string
	TokenFile string
	Namespace string
}

// WriteKubeconfig writes a kubeconfig with everything but TokenFile inside it, readable by its owner only.
func WriteKubeconfig(path, cluster, server string, ca []byte, user User) error {
	config := clientcmdapi.Config{
		CurrentContext: cluster,
		Clusters:       map[string]*clientcmdapi.Cluster{cluster: {Server: server, CertificateAuthorityData: ca}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{user.Name: {
			ClientCertificateData: user.Cert, ClientKeyData: user.Key, Token: user.Token, TokenFile: user.TokenFile,
		}},
		Contexts: map[string]*clientcmdapi.Context{cluster: {Cluster: cluster, AuthInfo: user.Name, Namespace: user.Namespace}},
	}
	data, err := clientcmd.Write(config)
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	temp := path + ".tmp"
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// AdminKubeconfig writes the administrator's kubeconfig of the cluster.
func (b Bundle) AdminKubeconfig(path, cluster, server string) error {
	ca, err := b.CAData()
	if err != nil {
		return err
	}
	cert, err := os.ReadFile(b.ClientCert())
	if err != nil {
		return err
	}
	key, err := os.ReadFile(b.ClientKey())
	if err != nil {
		return err
	}
	return WriteKubeconfig(path, cluster, server, ca, User{Name: "env-admin", Cert: cert, Key: key})
}
