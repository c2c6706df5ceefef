package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const lifetime = 365 * 24 * time.Hour

// Bundle is the folder with one cluster's keys and certificates.
type Bundle struct{ dir string }

// Ensure makes what is missing in dir.
func Ensure(dir string) (Bundle, error) {
	b := Bundle{dir: dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return b, fmt.Errorf("folder for certificates: %w", err)
	}
	// client.crt is written last: if it is there, all is.
	if _, err := os.Stat(b.ClientCert()); err == nil {
		return b, nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return b, err
	}
	if err := b.create(); err != nil {
		return b, fmt.Errorf("certificates in %s: %w", dir, err)
	}
	return b, nil
}

// Paths of the files.
func (b Bundle) CA() string          { return filepath.Join(b.dir, "ca.crt") }
func (b Bundle) CAKey() string       { return filepath.Join(b.dir, "ca.key") }
func (b Bundle) ServingCert() string { return filepath.Join(b.dir, "tls.crt") }
func (b Bundle) ServingKey() string  { return filepath.Join(b.dir, "tls.key") }
func (b Bundle) ClientCert() string  { return filepath.Join(b.dir, "client.crt") }
func (b Bundle) ClientKey() string   { return filepath.Join(b.dir, "client.key") }
func (b Bundle) AccountKey() string  { return filepath.Join(b.dir, "sa.key") }
func (b Bundle) AccountPub() string  { return filepath.Join(b.dir, "sa.pub") }

// Dir is the folder; its tls.crt and tls.key are what controller-runtime's webhook server looks for.
func (b Bundle) Dir() string { return b.dir }

// CAData is the authority's certificate in PEM.
func (b Bundle) CAData() ([]byte, error) { return os.ReadFile(b.CA()) }

func (b Bundle) create() error {
	ca, err := newAuthority()
	if err != nil {
		return err
	}
	if err := b.write(b.CA(), b.CAKey(), ca.cert.Raw, ca.key); err != nil {
		return err
	}
	if err := b.accountKey(); err != nil {
		return err
	}
	serving := template("kube-apiserver")
	serving.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	serving.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	serving.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if err := b.issue(ca, serving, b.ServingCert(), b.ServingKey()); err != nil {
		return err
	}
	admin := template("env-admin")
	admin.Subject.Organization = []string{"system:masters"}
	admin.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return b.issue(ca, admin, b.ClientCert(), b.ClientKey())
}

type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority() (authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return authority{}, err
	}
	tmpl := template("fleet-addon-env-ca")
	tmpl.IsCA, tmpl.BasicConstraintsValid = true, true
	tmpl.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	raw, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		return authority{}, err
	}
	cert, err := x509.ParseCertificate(raw)
	return authority{cert: cert, key: key}, err
}

func (b Bundle) issue(ca authority, tmpl *x509.Certificate, certFile, keyFile string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	raw, err := x509.CreateCertificate(rand.Reader, tmpl, ca.cert, key.Public(), ca.key)
	if err != nil {
		return err
	}
	return b.write(certFile, keyFile, raw, key)
}

// accountKey is RSA: the API server signs service account tokens with it.
func (b Bundle) accountKey() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := writePEM(b.AccountPub(), "PUBLIC KEY", public); err != nil {
		return err
	}
	return writeKey(b.AccountKey(), key)
}

func (b Bundle) write(certFile, keyFile string, cert []byte, key crypto.PrivateKey) error {
	if err := writeKey(keyFile, key); err != nil {
		return err
	}
	return writePEM(certFile, "CERTIFICATE", cert)
}

func writeKey(path string, key crypto.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, "PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

func template(name string) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err) // the system has no randomness
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Minute),
		NotAfter:     now.Add(lifetime),
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
	}
}
