package servers

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// T is what of testing.TB a server needs; GinkgoT() has it too.
type T interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
	TempDir() string
}

// Options of a server.
type Options struct {
	// Username and Password that every request has to have; empty lets anybody in.
	Username, Password string
	// Names beside 127.0.0.1 and localhost that the certificate is for: see Proxy.
	Names []string
	// PlainHTTP serves HTTP instead of HTTPS.
	PlainHTTP bool
}

// Server answers on 127.0.0.1, at a port of its own.
type Server struct {
	// URL without a slash at its end.
	URL string
	// CA is the PEM of the CA of this server alone; none of one that talks HTTP.
	CA []byte

	mux      *http.ServeMux
	options  Options
	mu       sync.Mutex
	requests []Request
}

// Request is one that a server got, let in or not.
type Request struct {
	Method, Path string
	// Username and Password that were sent; Authorized says whether anything was, of
	// whatever kind.
	Username, Password string
	Authorized         bool
}

// New is a server of files by their paths, which Handle adds to. Options apply to all
// that it serves.
func New(t T, o Options) *Server {
	t.Helper()
	s := &Server{mux: http.NewServeMux(), options: o}
	server := httptest.NewUnstartedServer(s)
	// Clients that refuse the certificate are what many tests are about.
	server.Config.ErrorLog = quiet
	if o.PlainHTTP {
		server.Start()
	} else {
		ca, cert := authority(t, o.Names)
		s.CA = ca
		server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
		server.StartTLS()
	}
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	s.URL = server.URL
	return s
}

// Host of the server, with its port.
func (s *Server) Host() string {
	_, host, _ := strings.Cut(s.URL, "://")
	return host
}

// Handle answers requests for a pattern of http.ServeMux.
func (s *Server) Handle(pattern string, h http.HandlerFunc) { s.mux.Handle(pattern, h) }

// Serve answers requests for a path with data.
func (s *Server) Serve(path string, data []byte) {
	s.Handle(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) })
}

// Redirect answers requests for a path with another address.
func (s *Server) Redirect(path, to string) {
	s.Handle(path, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
}

// ServeHTTP implements http.Handler: it notes the request and looks at the password.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	username, password, basic := r.BasicAuth()
	s.note(Request{
		Method: r.Method, Path: r.URL.Path,
		Username: username, Password: password, Authorized: basic || r.Header.Get("Authorization") != "",
	})
	if s.options.Username != "" && (username != s.options.Username || password != s.options.Password) {
		w.Header().Set("WWW-Authenticate", `Basic realm="fleet-addon tests"`)
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	s.mux.ServeHTTP(w, r)
}

func (s *Server) note(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
}

// Requests that the server got up to now, in their order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Count is the number of requests for paths that end in suffix.
func (s *Server) Count(suffix string) int {
	n := 0
	for _, r := range s.Requests() {
		if strings.HasSuffix(r.Path, suffix) {
			n++
		}
	}
	return n
}

// Authorized says whether a request for a path that ends in suffix, or for any path if
// that is empty, had credentials.
func (s *Server) Authorized(suffix string) bool {
	for _, r := range s.Requests() {
		if r.Authorized && strings.HasSuffix(r.Path, suffix) {
			return true
		}
	}
	return false
}
