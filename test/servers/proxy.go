package servers

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
)

// Proxy starts an HTTP proxy which leads every name to one server, so that files can say
// https://charts.example.com and be read as they are. A client finds it by HTTPS_PROXY.
// The server has to have a certificate for the name: see Options.Names.
func Proxy(t T, to *Server) (url string) {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			http.Error(w, "this proxy is for HTTPS alone", http.StatusMethodNotAllowed)
			return
		}
		server, err := net.Dial("tcp", to.Host())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer server.Close()
		client, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer client.Close()
		if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
			return
		}
		go func() {
			_, _ = io.Copy(server, buffered)
			server.Close()
		}()
		_, _ = io.Copy(client, server)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}
