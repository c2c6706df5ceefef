package servers

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func client(t *testing.T, s *Server) *http.Client {
	t.Helper()
	pool := x509.NewCertPool()
	if len(s.CA) > 0 && !pool.AppendCertsFromPEM(s.CA) {
		t.Fatal("no PEM in the CA")
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
}

func get(t *testing.T, s *Server, path, username, password string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if username != "" {
		request.SetBasicAuth(username, password)
	}
	response, err := client(t, s).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

func TestRepository(t *testing.T) {
	r := NewRepository(t, Options{Username: "me", Password: "secret"}, Chart(t, "web", "1.0.0", nil))
	if _, err := http.Get(r.URL); err == nil {
		t.Error("a client that does not know the CA was answered")
	}
	got := []int{
		get(t, r.Server, "/index.yaml", "", ""),
		get(t, r.Server, "/index.yaml", "me", "wrong"),
		get(t, r.Server, "/index.yaml", "me", "secret"),
		get(t, r.Server, "/web-1.0.0.tgz", "me", "secret"),
	}
	if diff := cmp.Diff([]int{401, 401, 200, 200}, got); diff != "" {
		t.Error(diff)
	}
	want := []Request{
		{Method: "GET", Path: "/index.yaml"},
		{Method: "GET", Path: "/index.yaml", Username: "me", Password: "wrong", Authorized: true},
		{Method: "GET", Path: "/index.yaml", Username: "me", Password: "secret", Authorized: true},
		{Method: "GET", Path: "/web-1.0.0.tgz", Username: "me", Password: "secret", Authorized: true},
	}
	if diff := cmp.Diff(want, r.Requests()); diff != "" {
		t.Error(diff)
	}
}
