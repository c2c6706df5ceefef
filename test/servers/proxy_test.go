package servers

import (
	"io"
	"net/http"
	"net/url"
	"testing"
)

func TestProxyLeadsNamesToTheServer(t *testing.T) {
	s := New(t, Options{Names: []string{"charts.example.com"}})
	s.Serve("/index.yaml", []byte("here"))
	proxy, err := url.Parse(Proxy(t, s))
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, s)
	c.Transport.(*http.Transport).Proxy = http.ProxyURL(proxy)
	defer c.CloseIdleConnections()
	response, err := c.Get("https://charts.example.com/index.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != "here" {
		t.Errorf("got %q (%v)", body, err)
	}
	// No certificate for another name: nobody is led somewhere by mistake.
	if _, err := c.Get("https://other.example.com/index.yaml"); err == nil {
		t.Error("a name that is not the server's was answered")
	}
}
