package source

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/repo"

	"open-cluster-management.io/fleet-addon/pkg/bundle"
	"open-cluster-management.io/fleet-addon/test/servers"
)

func TestChartOfRegistry(t *testing.T) {
	r := servers.NewRegistry(t, servers.Options{Username: "me", Password: secret})
	r.Push(t, "team/charts", append(web(t), servers.Chart(t, "web", "1.10.1+build.7", nil, "templates/a.yaml", "v: 1.10.1+build.7"))...)
	at := "oci://" + r.Host() + "/team/charts"
	right := ChartOptions{Credentials: Credentials{Username: "me", Password: secret, CABundle: r.CA}, URLRegex: "oci://127.0.0.1:"}
	tests := map[string]struct {
		ref     bundle.ChartRef
		change  func(*ChartOptions)
		want    string
		wantErr []string
	}{
		"the whole in helm.repo":                  {ref: bundle.ChartRef{Repo: at + "/web", Version: "1.2.3"}, want: "1.2.3"},
		"the whole in helm.repo, and its name":    {ref: bundle.ChartRef{Repo: at + "/web", Chart: "web", Version: "1.2.3"}, want: "1.2.3"},
		"as Fleet reads it, whatever the name":    {ref: bundle.ChartRef{Repo: at + "/web", Chart: "other", Version: "1.2.3"}, want: "1.2.3"},
		"as Helm reads it, a path and the name":   {ref: bundle.ChartRef{Repo: at, Chart: "web", Version: "1.2.3"}, want: "1.2.3"},
		"the whole in helm.chart":                 {ref: bundle.ChartRef{Chart: at + "/web", Version: "1.2.3"}, want: "1.2.3"},
		"a tag in the URL":                        {ref: bundle.ChartRef{Chart: at + "/web:1.2.3"}, want: "1.2.3"},
		"the newest that is no pre-release":       {ref: bundle.ChartRef{Repo: at + "/web"}, want: "2.0.0"},
		"a constraint":                            {ref: bundle.ChartRef{Repo: at + "/web", Version: "~1.2"}, want: "1.2.3"},
		"a constraint, with what tags cannot say": {ref: bundle.ChartRef{Repo: at + "/web", Version: "^1"}, want: "1.10.1+build.7"},
		"a version that tags cannot say":          {ref: bundle.ChartRef{Repo: at + "/web", Version: "1.10.1+build.7"}, want: "1.10.1+build.7"},
		"an exact pre-release":                    {ref: bundle.ChartRef{Repo: at + "/web", Version: "3.0.0-rc.1"}, want: "3.0.0-rc.1"},
		"a tag and another version":               {ref: bundle.ChartRef{Chart: at + "/web:1.2.3", Version: "2.0.0"}, wantErr: []string{`tag "1.2.3"`, `"2.0.0"`}},
		"a version that is not there":             {ref: bundle.ChartRef{Repo: at + "/web", Version: "9.9.9"}, wantErr: []string{at + "/web", "9.9.9", "not found"}},
		"no version fulfils it":                   {ref: bundle.ChartRef{Repo: at + "/web", Version: "^9"}, wantErr: []string{at + "/web", `fulfils "^9"`}},
		"no constraint":                           {ref: bundle.ChartRef{Repo: at + "/web", Version: "newest"}, wantErr: []string{"helm.version"}},
		"a chart that is not there":               {ref: bundle.ChartRef{Repo: at + "/db"}, wantErr: []string{at + "/db", "404"}},
		"neither way to read it":                  {ref: bundle.ChartRef{Repo: at, Chart: "db", Version: "1.0.0"}, wantErr: []string{at, "db", "not found"}},
		"no regex": {
			ref: bundle.ChartRef{Repo: at + "/web"}, change: func(o *ChartOptions) { o.URLRegex = "" },
			wantErr: []string{at + "/web", "401", "no helmRepoURLRegex"},
		},
		"another regex": {
			ref: bundle.ChartRef{Repo: at + "/web", Version: "1.2.3"}, change: func(o *ChartOptions) { o.URLRegex = "https://" },
			wantErr: []string{at + "/web", "401", "does not match"},
		},
		"a wrong password": {
			ref: bundle.ChartRef{Repo: at + "/web"}, change: func(o *ChartOptions) { o.Credentials.Password = "no" + secret },
			wantErr: []string{at + "/web", "401", "credentials for this directory were sent"},
		},
		"another CA": {
			ref: bundle.ChartRef{Repo: at + "/web"}, change: func(o *ChartOptions) { o.Credentials.CABundle = nil },
			wantErr: []string{at + "/web", "unknown authority", "CA bundle"},
		},
		"no look at the certificate": {
			ref:    bundle.ChartRef{Repo: at + "/web"},
			change: func(o *ChartOptions) { o.Credentials.CABundle, o.Credentials.InsecureSkipTLSVerify = nil, true }, want: "2.0.0",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			options := right
			if tc.change != nil {
				tc.change(&options)
			}
			files, err := newCharts(t, options).Chart(t.Context(), tc.ref)
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
}

func TestRegistryOverPlainHTTP(t *testing.T) {
	r := servers.NewRegistry(t, servers.Options{PlainHTTP: true, Username: "me", Password: secret})
	r.Push(t, "charts", web(t)[0])
	ref := bundle.ChartRef{Repo: "oci://" + r.Host() + "/charts/web", Version: "1.0.0"}
	o := ChartOptions{Credentials: Credentials{Username: "me", Password: secret, BasicHTTP: true}, URLRegex: "oci://127"}
	if _, err := newCharts(t, o).Chart(t.Context(), ref); err != nil {
		t.Error(err)
	}
	o.Credentials.BasicHTTP = false
	_, err := newCharts(t, o).Chart(t.Context(), ref)
	wantError(t, err, ref.Repo, "HTTP response to HTTPS client")
}

func TestRegistryThatLeadsElsewhere(t *testing.T) {
	plain := servers.New(t, servers.Options{PlainHTTP: true})
	s := servers.New(t, servers.Options{})
	s.Handle("/v2/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+plain.URL+`/token",service="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	c := newCharts(t, ChartOptions{Credentials: Credentials{Username: "me", Password: secret, CABundle: s.CA}, URLRegex: "oci://"})
	_, err := c.Chart(t.Context(), bundle.ChartRef{Repo: "oci://" + s.Host() + "/web", Version: "1.0.0"})
	wantError(t, err, "uses http")
	if n := len(plain.Requests()); n != 0 {
		t.Errorf("%d requests without encryption", n)
	}
}

func TestRegistryWithTooMuch(t *testing.T) {
	r := servers.NewRegistry(t, servers.Options{})
	r.Push(t, "charts", web(t)...)
	c := newCharts(t, ChartOptions{Credentials: Credentials{CABundle: r.CA}})
	c.limits.archive, c.limits.tags = 100, 3
	at := "oci://" + r.Host() + "/charts/web"
	_, err := c.Chart(t.Context(), bundle.ChartRef{Repo: at, Version: "1.0.0"})
	wantError(t, err, at, "the archive has more than 100 bytes")
	_, err = c.Chart(t.Context(), bundle.ChartRef{Repo: at, Version: "^1"})
	wantError(t, err, at, "more than 3 tags")
}

func TestRegistryBehindRepository(t *testing.T) {
	r := servers.NewRegistry(t, servers.Options{})
	r.Push(t, "charts", web(t)...)
	index := repo.NewIndexFile()
	if err := index.MustAdd(&chart.Metadata{APIVersion: "v2", Name: "web", Version: "1.2.3"}, "", "", ""); err != nil {
		t.Fatal(err)
	}
	index.Entries["web"][0].URLs = []string{"oci://" + r.Host() + "/charts/web:1.2.3"}
	front := servers.NewRepository(t, servers.Options{PlainHTTP: true})
	front.Index(t, index)
	c := newCharts(t, ChartOptions{Credentials: Credentials{CABundle: r.CA}})
	files, err := c.Chart(t.Context(), bundle.ChartRef{Repo: front.URL, Chart: "web"})
	if err != nil {
		t.Fatal(err)
	}
	if got := text(files, "web/templates/a.yaml"); got != "v: 1.2.3" {
		t.Errorf("got %q", got)
	}
}

func TestDependencyOfRegistry(t *testing.T) {
	r := servers.NewRegistry(t, servers.Options{Username: "me", Password: secret})
	r.Push(t, "charts", web(t)...)
	shop := servers.Chart(t, "shop", "0.1.0", []*chart.Dependency{{Name: "web", Version: "^1.0.0", Repository: "oci://" + r.Host() + "/charts"}})
	o := ChartOptions{Credentials: Credentials{Username: "me", Password: secret, CABundle: r.CA}, URLRegex: "oci://127"}
	got, err := newCharts(t, o).Dependencies(t.Context(), ".", filesOf(shop))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"charts/web-1.10.0.tgz"}, names(got)); diff != "" {
		t.Error(diff)
	}
	whole(t, append(filesOf(shop), got...))
	o.URLRegex = strings.ToUpper(o.URLRegex)
	_, err = newCharts(t, o).Dependencies(t.Context(), ".", filesOf(shop))
	wantError(t, err, `dependency "web" of chart shop`, r.Host()+"/charts/web", "401", "does not match")
}
