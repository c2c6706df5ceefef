package servers

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/registry"
	"helm.sh/helm/v3/pkg/chart"
	helmregistry "helm.sh/helm/v3/pkg/registry"
)

// Registry is an OCI registry.
type Registry struct{ *Server }

// NewRegistry serves an empty registry.
func NewRegistry(t T, o Options) *Registry {
	t.Helper()
	r := &Registry{Server: New(t, o)}
	r.Handle("/v2/", registry.New(registry.Logger(quiet)).ServeHTTP)
	return r
}

// Push charts below a path with Helm's own client, as `helm push` does. What that asks
// is not kept in Requests.
func (r *Registry) Push(t T, path string, charts ...*chart.Chart) {
	t.Helper()
	before := len(r.Requests())
	client, err := r.helm()
	if err != nil {
		t.Fatalf("make a client of the registry: %v", err)
	}
	for _, c := range charts {
		_, data := Archive(t, c)
		ref := r.Host() + "/" + path + "/" + c.Name() + ":" + strings.ReplaceAll(c.Metadata.Version, "+", "_")
		if _, err := client.Push(data, ref, helmregistry.PushOptStrictMode(false)); err != nil {
			t.Fatalf("push %s: %v", ref, err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = r.requests[:before]
}

func (r *Registry) helm() (*helmregistry.Client, error) {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(r.CA)
	options := []helmregistry.ClientOption{
		helmregistry.ClientOptWriter(&bytes.Buffer{}),
		helmregistry.ClientOptHTTPClient(&http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}),
	}
	if r.options.Username != "" {
		options = append(options, helmregistry.ClientOptBasicAuth(r.options.Username, r.options.Password))
	}
	if r.options.PlainHTTP {
		options = append(options, helmregistry.ClientOptPlainHTTP())
	}
	return helmregistry.NewClient(options...)
}
