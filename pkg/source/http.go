package source

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

const maxRedirects = 10

// clients are the HTTP clients, one for each way to trust servers.
type clients struct {
	mu  sync.Mutex
	all map[string]*http.Client
}

func (c *Charts) client(a access) *http.Client {
	c.clients.mu.Lock()
	defer c.clients.mu.Unlock()
	if it, ok := c.clients.all[a.key]; ok {
		return it
	}
	if c.clients.all == nil {
		c.clients.all = map[string]*http.Client{}
	}
	it := &http.Client{
		Transport:     asking{allow: c.options.AllowURL, next: newTransport(a.Credentials, c.options.Timeout)},
		CheckRedirect: follow,
		Timeout:       c.options.Timeout,
	}
	c.clients.all[a.key] = it
	return it
}

func newTransport(creds Credentials, timeout time.Duration) *http.Transport {
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: creds.InsecureSkipTLSVerify}
	if len(creds.CABundle) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		pool.AppendCertsFromPEM(creds.CABundle)
		config.RootCAs = pool
	}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: min(30*time.Second, timeout)}).DialContext,
		ForceAttemptHTTP2:     true,
		TLSClientConfig:       config,
		TLSHandshakeTimeout:   min(30*time.Second, timeout),
		ResponseHeaderTimeout: min(silence, timeout),
		IdleConnTimeout:       30 * time.Second,
		// An archive is taken as it is, whatever the server says of its encoding.
		DisableCompression: true,
	}
}

// asking asks before every request, redirected ones as well.
type asking struct {
	allow func(string) error
	next  http.RoundTripper
}

func (t asking) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.allow != nil {
		if err := t.allow(redact(r.URL)); err != nil {
			return nil, err
		}
	}
	return t.next.RoundTrip(r)
}

// follow goes where a server redirects to, but shows its credentials to no other: not
// even to another port of the same host, to which Go would.
func follow(r *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	if via[0].URL.Scheme == "https" && r.URL.Scheme != "https" {
		return fmt.Errorf("redirected from https to %s, which is not followed", redact(r.URL))
	}
	// The address before may have a secret behind its question mark.
	r.Header.Del("Referer")
	if !slices.ContainsFunc(via, func(v *http.Request) bool { return origin(v.URL) != origin(r.URL) }) {
		return nil
	}
	r.Header.Del("Authorization")
	return nil
}

// origin is scheme, host and port.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(u.Hostname(), port)
}

// get downloads at most limit bytes.
func (c *Charts) get(ctx context.Context, a access, g grant, u *url.URL, limit int64) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", redact(u), bare(err))
	}
	r.Header.Set("User-Agent", "fleet-addon")
	if g.sent && a.Username != "" && u.User == nil {
		r.SetBasicAuth(a.Username, a.Password)
	}
	response, err := c.client(a).Do(r)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", redact(u), explain(err))
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %w", redact(u), refused(response.StatusCode, g))
	}
	data, err := readAll(response.Body, limit, "the answer")
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", redact(u), explain(err))
	}
	return data, nil
}

// statusError is an answer that is not what was asked for.
type statusError struct {
	code int
	why  string
}

func (e *statusError) Error() string {
	if e.why == "" {
		return fmt.Sprintf("the server answered %d %s", e.code, http.StatusText(e.code))
	}
	return fmt.Sprintf("the server answered %d %s; %s", e.code, http.StatusText(e.code), e.why)
}

// refused says what was sent where that may be the reason. Servers answer 404 too for
// what they do not show to everybody.
func refused(code int, g grant) error {
	switch {
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusNotFound && !g.sent:
		return &statusError{code: code, why: g.why}
	default:
		return &statusError{code: code}
	}
}

// explain adds what to do to errors of connections, and takes the URL out of them.
func explain(err error) error {
	err = bare(err)
	var unknown x509.UnknownAuthorityError
	var timeout net.Error
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("%w: give its CA in the CA bundle (caBundle, --cacerts-file)", err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("the server did not answer in time: %w", err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the server cut its answer: %w", err)
	}
	return err
}
