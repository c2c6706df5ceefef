package source

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/repo"

	"open-cluster-management.io/fleet-addon/pkg/bundle"
	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/test/servers"
)

const secret = "s3cr3t-of-nobody"

func newCharts(t *testing.T, o ChartOptions) *Charts {
	t.Helper()
	c, err := NewCharts(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func names(files []content.File) []string {
	var out []string
	for _, f := range files {
		out = append(out, f.Name)
	}
	return out
}

// text of a file, "" if there is none.
func text(files []content.File, name string) string {
	for _, f := range files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// wantError wants an error with all these parts, and never with the password.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error is %q, which has no %q", err, part)
		}
	}
	if strings.Contains(err.Error(), secret) {
		t.Errorf("the error has the password in it: %v", err)
	}
}

// web has versions that a constraint can tell apart.
func web(t *testing.T) []*chart.Chart {
	t.Helper()
	var out []*chart.Chart
	for _, v := range []string{"1.0.0", "1.2.3", "1.10.0", "2.0.0", "3.0.0-rc.1"} {
		out = append(out, servers.Chart(t, "web", v, nil, "templates/a.yaml", "v: "+v, ".helmignore", "x"))
	}
	return out
}

func TestChartOfRepository(t *testing.T) {
	r := servers.NewRepository(t, servers.Options{}, web(t)...)
	c := newCharts(t, ChartOptions{Credentials: Credentials{CABundle: r.CA}})
	tests := map[string]struct {
		version, want string
		wantErr       []string
	}{
		"no version is the newest that is no pre-release": {version: "", want: "2.0.0"},
		"an exact version":                      {version: "1.2.3", want: "1.2.3"},
		"the newest of a constraint, by number": {version: "^1", want: "1.10.0"},
		"a constraint with two parts":           {version: ">=1.0.0 <1.10.0", want: "1.2.3"},
		"an exact pre-release":                  {version: "3.0.0-rc.1", want: "3.0.0-rc.1"},
		"a constraint that allows pre-releases": {version: ">0-0", want: "3.0.0-rc.1"},
		"no version fulfils it":                 {version: "^9", wantErr: []string{`chart "web" in version "^9"`, r.URL, "no such version"}},
		"no constraint at all":                  {version: "newest", wantErr: []string{`"newest"`, r.URL, "improper constraint"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files, err := c.Chart(t.Context(), bundle.ChartRef{Repo: r.URL, Chart: "web", Version: tc.version})
			if tc.wantErr != nil {
				wantError(t, err, tc.wantErr...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"web/Chart.yaml", "web/templates/a.yaml"}, names(files)); diff != "" {
				t.Error(diff)
			}
			if got := text(files, "web/templates/a.yaml"); got != "v: "+tc.want {
				t.Errorf("got %q, want version %s", got, tc.want)
			}
		})
	}
	if n := r.Count("/index.yaml"); n != 1 {
		t.Errorf("the index was fetched %d times", n)
	}
	_, err := c.Chart(t.Context(), bundle.ChartRef{Repo: r.URL, Chart: "other"})
	wantError(t, err, `"other"`, r.URL, "no chart of this name")
	_, err = c.Chart(t.Context(), bundle.ChartRef{Repo: r.URL})
	wantError(t, err, "helm.chart has to name")
}

func TestCredentialsOfRepository(t *testing.T) {
	r := servers.NewRepository(t, servers.Options{Username: "me", Password: secret}, web(t)...)
	host := strings.TrimPrefix(r.URL, "https://")
	right := Credentials{Username: "me", Password: secret, CABundle: r.CA}
	wrong := Credentials{Username: "me", Password: "no" + secret, CABundle: r.CA}
	tests := map[string]struct {
		options  ChartOptions
		wantSent bool
		wantErr  []string
	}{
		"the regex matches": {ChartOptions{Credentials: right, URLRegex: "https://127.0.0.1.*"}, true, nil},
		"the regex matches the beginning": {
			ChartOptions{Credentials: right, URLRegex: "https://127"}, true, nil,
		},
		"the second alternative matches": {ChartOptions{Credentials: right, URLRegex: "nowhere|https://127"}, true, nil},
		"no regex": {
			ChartOptions{Credentials: right}, false,
			[]string{r.URL, "401 Unauthorized", "no credentials were sent, because no helmRepoURLRegex"},
		},
		"the regex matches something else": {
			ChartOptions{Credentials: right, URLRegex: "https://charts.example.com/"}, false,
			[]string{r.URL, "401 Unauthorized", "no credentials were sent", "https://charts.example.com/", "does not match"},
		},
		"the regex matches later on only": {
			ChartOptions{Credentials: right, URLRegex: "127"}, false, []string{"no credentials were sent"},
		},
		"an alternative that matches later on only": {
			ChartOptions{Credentials: right, URLRegex: "nowhere|127"}, false, []string{"no credentials were sent"},
		},
		"a wrong password": {
			ChartOptions{Credentials: wrong, URLRegex: "https://127"}, true,
			[]string{r.URL, "401 Unauthorized", "the credentials for this directory were sent"},
		},
		"none at all": {
			ChartOptions{Credentials: Credentials{CABundle: r.CA}, URLRegex: "https://127"}, false,
			[]string{r.URL, "401 Unauthorized", "none are given for this directory"},
		},
		"another CA": {
			ChartOptions{Credentials: Credentials{Username: "me", Password: secret}, URLRegex: "https://127"}, false,
			[]string{r.URL, "unknown authority", "CA bundle"},
		},
		"no look at the certificate": {
			ChartOptions{Credentials: Credentials{Username: "me", Password: secret, InsecureSkipTLSVerify: true}, URLRegex: "https://127"}, true, nil,
		},
		"credentials of the path": {
			ChartOptions{ByPath: map[string]Credentials{"apps/web": right, "apps/*": wrong}, URLRegex: "https://127"}, true, nil,
		},
		"credentials of the first pattern": {
			ChartOptions{ByPath: map[string]Credentials{"apps/*": right, "apps/w*": wrong}, URLRegex: "https://127"}, true, nil,
		},
		"credentials of another path": {
			ChartOptions{Credentials: Credentials{CABundle: r.CA}, ByPath: map[string]Credentials{"*": right, "apps/db": right}, URLRegex: "https://127"}, false,
			[]string{"none are given for this directory"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := len(r.Requests())
			files, err := newCharts(t, tc.options).Chart(t.Context(), bundle.ChartRef{Dir: "apps/web", Repo: r.URL, Chart: "web"})
			if tc.wantErr != nil {
				wantError(t, err, tc.wantErr...)
			} else if err != nil || len(files) == 0 {
				t.Errorf("error %v, files %q", err, names(files))
			}
			sent := false
			for _, q := range r.Requests()[before:] {
				sent = sent || q.Authorized
			}
			if sent != tc.wantSent {
				t.Errorf("credentials were sent: %v, want %v", sent, tc.wantSent)
			}
		})
	}
	t.Run("in the URL", func(t *testing.T) {
		c := newCharts(t, ChartOptions{Credentials: Credentials{CABundle: r.CA}})
		if _, err := c.Chart(t.Context(), bundle.ChartRef{Repo: "https://me:" + secret + "@" + host, Chart: "web"}); err != nil {
			t.Error(err)
		}
		_, err := c.Chart(t.Context(), bundle.ChartRef{Repo: "https://you:" + secret + "@" + host, Chart: "web"})
		wantError(t, err, "401")
		_, err = c.Chart(t.Context(), bundle.ChartRef{Repo: "https://me:" + secret + "@%zz/", Chart: "web"})
		wantError(t, err, "helm.repo")
	})
	t.Run("what one directory got with its password is not another's", func(t *testing.T) {
		c := newCharts(t, ChartOptions{Credentials: Credentials{CABundle: r.CA}, ByPath: map[string]Credentials{"a": right}, URLRegex: "https://127"})
		if _, err := c.Chart(t.Context(), bundle.ChartRef{Dir: "a", Repo: r.URL, Chart: "web"}); err != nil {
			t.Error(err)
		}
		_, err := c.Chart(t.Context(), bundle.ChartRef{Dir: "b", Repo: r.URL, Chart: "web"})
		wantError(t, err, "401")
	})
}

func TestCredentialsStayWithTheirHost(t *testing.T) {
	_, archive := servers.Archive(t, web(t)[0])
	setUp := func(t *testing.T) (r *servers.Repository, other *servers.Server) {
		r = servers.NewRepository(t, servers.Options{PlainHTTP: true, Username: "me", Password: secret})
		other = servers.New(t, servers.Options{PlainHTTP: true})
		other.Serve("/web.tgz", archive)
		return r, other
	}
	named := func(t *testing.T, r *servers.Repository, url string) {
		i := repo.NewIndexFile()
		if err := i.MustAdd(&chart.Metadata{APIVersion: "v2", Name: "web", Version: "1.0.0"}, url, "", ""); err != nil {
			t.Fatal(err)
		}
		r.Index(t, i)
	}
	credentials := Credentials{Username: "me", Password: secret}
	tests := map[string]struct {
		url      func(r *servers.Repository, other *servers.Server) string
		regex    func(r *servers.Repository, other *servers.Server) string
		wantSent bool
	}{
		"the index names another host": {
			url:   func(_ *servers.Repository, o *servers.Server) string { return o.URL + "/web.tgz" },
			regex: func(r *servers.Repository, _ *servers.Server) string { return r.URL },
		},
		"the index names another host that matches too": {
			url:      func(_ *servers.Repository, o *servers.Server) string { return o.URL + "/web.tgz" },
			regex:    func(*servers.Repository, *servers.Server) string { return "http://127.0.0.1:[0-9]+" },
			wantSent: true,
		},
		"the repository redirects to another host, even one that matches": {
			url:   func(r *servers.Repository, _ *servers.Server) string { return r.URL + "/away.tgz" },
			regex: func(*servers.Repository, *servers.Server) string { return "http://127.0.0.1:[0-9]+" },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r, other := setUp(t)
			r.Redirect("/away.tgz", other.URL+"/web.tgz?token="+secret)
			named(t, r, tc.url(r, other))
			c := newCharts(t, ChartOptions{Credentials: credentials, URLRegex: tc.regex(r, other)})
			if _, err := c.Chart(t.Context(), bundle.ChartRef{Repo: r.URL, Chart: "web"}); err != nil {
				t.Fatal(err)
			}
			if !r.Authorized("/index.yaml") {
				t.Error("the repository got no credentials")
			}
			if got := other.Authorized("/web.tgz"); got != tc.wantSent {
				t.Errorf("the other host got credentials: %v, want %v", got, tc.wantSent)
			}
		})
	}
	t.Run("an absolute URL and one from the root of the same host", func(t *testing.T) {
		for _, url := range []string{"/web-1.0.0.tgz", "web-1.0.0.tgz"} {
			r := servers.NewRepository(t, servers.Options{PlainHTTP: true, Username: "me", Password: secret}, web(t)[0])
			if url[0] != '/' {
				url = r.URL + "/" + url
			}
			named(t, r, url)
			c := newCharts(t, ChartOptions{Credentials: credentials, URLRegex: "http://127"})
			if _, err := c.Chart(t.Context(), bundle.ChartRef{Repo: r.URL + "/", Chart: "web"}); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("a redirect from HTTPS to HTTP is not followed", func(t *testing.T) {
		_, other := setUp(t)
		r := servers.NewRepository(t, servers.Options{})
		r.Redirect("/away.tgz", other.URL+"/web.tgz")
		named(t, r, "away.tgz")
		c := newCharts(t, ChartOptions{Credentials: Credentials{CABundle: r.CA}})
		_, err := c.Chart(t.Context(), bundle.ChartRef{Repo: r.URL, Chart: "web"})
		wantError(t, err, "redirected from https to "+other.URL, r.URL)
	})
}

func TestRepositoryThatIsNotWell(t *testing.T) {
	tests := map[string]struct {
		answer  http.HandlerFunc
		limit   int64
		wantErr []string
	}{
		"no index":       {answer: http.NotFound, wantErr: []string{"404 Not Found"}},
		"an error":       {answer: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, secret, 500) }, wantErr: []string{"500"}},
		"no YAML":        {answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, wantErr: []string{"no index of charts"}},
		"empty":          {answer: func(http.ResponseWriter, *http.Request) {}, wantErr: []string{"no index of charts"}},
		"a silent one":   {answer: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, wantErr: []string{"did not answer in time"}},
		"redirects only": {answer: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, wantErr: []string{"more than 10 redirects"}},
		"too large": {
			answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2*mib)) }, limit: mib,
			wantErr: []string{"more than 1 MiB"},
		},
		"one that drips": {
			answer: func(w http.ResponseWriter, r *http.Request) {
				_, _ = w.Write([]byte("apiVersion: v1"))
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			},
			wantErr: []string{"did not answer in time"},
		},
		"a connection that breaks": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "100")
				_, _ = w.Write([]byte("apiVersion: v1"))
			},
			wantErr: []string{"cut its answer"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := servers.New(t, servers.Options{PlainHTTP: true})
			s.Handle("/charts/index.yaml", tc.answer)
			c := newCharts(t, ChartOptions{Timeout: 300 * time.Millisecond})
			if tc.limit > 0 {
				c.limits.index = tc.limit
			}
			where := "http://me:" + secret + "@" + s.Host() + "/charts?token=" + secret
			_, err := c.Chart(t.Context(), bundle.ChartRef{Repo: where, Chart: "web"})
			wantError(t, err, append(tc.wantErr, s.URL+"/charts/index.yaml", `chart "web" of repository `+s.URL+"/charts")...)
		})
	}
	t.Run("one that is not there", func(t *testing.T) {
		_, err := newCharts(t, ChartOptions{}).Chart(t.Context(), bundle.ChartRef{Repo: "http://127.0.0.1:1", Chart: "web"})
		wantError(t, err, "http://127.0.0.1:1/index.yaml", "connection refused")
	})
	t.Run("another digest", func(t *testing.T) {
		r := servers.NewRepository(t, servers.Options{PlainHTTP: true}, web(t)[0])
		i := repo.NewIndexFile()
		if err := i.MustAdd(&chart.Metadata{APIVersion: "v2", Name: "web", Version: "1.0.0"}, "web-1.0.0.tgz", "", strings.Repeat("0", 64)); err != nil {
			t.Fatal(err)
		}
		r.Index(t, i)
		_, err := newCharts(t, ChartOptions{}).Chart(t.Context(), bundle.ChartRef{Repo: r.URL, Chart: "web"})
		wantError(t, err, "/web-1.0.0.tgz", "digest")
	})
}

func TestChartIsFetchedOnce(t *testing.T) {
	r := servers.NewRepository(t, servers.Options{PlainHTTP: true}, web(t)...)
	c := newCharts(t, ChartOptions{})
	var all sync.WaitGroup
	for _, dir := range []string{"a", "b", "a", "c", "d", "e"} {
		all.Go(func() {
			if _, err := c.Chart(t.Context(), bundle.ChartRef{Dir: dir, Repo: r.URL, Chart: "web", Version: "1.2.3"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(r.Requests()); n != 2 {
		t.Errorf("%d requests, want one for the index and one for the chart", n)
	}
}

func TestOneWhoGivesUpDoesNotDecideForOthers(t *testing.T) {
	s := servers.New(t, servers.Options{PlainHTTP: true})
	asked, answer := make(chan struct{}, 2), make(chan struct{})
	s.Handle("/index.yaml", func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-answer:
			http.NotFound(w, r)
		case <-r.Context().Done():
		}
	})
	c := newCharts(t, ChartOptions{})
	ref := bundle.ChartRef{Repo: s.URL, Chart: "web"}
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { _, err := c.Chart(ctx, ref); first <- err }()
	<-asked
	go func() { _, err := c.Chart(t.Context(), ref); second <- err }()
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first got %v", err)
	}
	<-asked
	close(answer)
	wantError(t, <-second, "404")
}

func TestAllowURL(t *testing.T) {
	r := servers.NewRepository(t, servers.Options{PlainHTTP: true}, web(t)...)
	other := servers.New(t, servers.Options{PlainHTTP: true})
	other.Redirect("/index.yaml", r.URL+"/index.yaml")
	c := newCharts(t, ChartOptions{AllowURL: func(url string) error {
		if strings.HasPrefix(url, r.URL) {
			return errors.New("not there")
		}
		return nil
	}})
	for _, at := range []string{r.URL, other.URL} {
		_, err := c.Chart(t.Context(), bundle.ChartRef{Repo: at, Chart: "web"})
		wantError(t, err, "not there")
	}
	if n := len(r.Requests()); n != 0 {
		t.Errorf("%d requests to what is not allowed", n)
	}
}

func TestNewChartsRefuses(t *testing.T) {
	tests := map[string]struct {
		options ChartOptions
		want    []string
	}{
		"a regex that is none":            {ChartOptions{URLRegex: "a(b"}, []string{"helmRepoURLRegex", "missing closing ): `a(b`"}},
		"a username alone":                {ChartOptions{Credentials: Credentials{Username: secret}}, []string{"no password"}},
		"a password alone":                {ChartOptions{Credentials: Credentials{Password: secret}}, []string{"no username"}},
		"a CA that is none, of a path":    {ChartOptions{ByPath: map[string]Credentials{"a/b": {CABundle: []byte(secret)}}}, []string{`path "a/b"`, "CA bundle"}},
		"a key that is none":              {ChartOptions{Credentials: Credentials{SSHPrivateKey: []byte(secret)}}, []string{"SSH private key"}},
		"a path that is no pattern":       {ChartOptions{ByPath: map[string]Credentials{"a[": {}}}, []string{`path "a["`, "pattern"}},
		"a timeout that lies in the past": {ChartOptions{Timeout: -1}, []string{"negative"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := NewCharts(tc.options)
			wantError(t, err, tc.want...)
		})
	}
}
