package source

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/fleet-addon/pkg/bundle"
	"open-cluster-management.io/fleet-addon/test/servers"
)

const chartYAML = "apiVersion: v2\nname: web\nversion: 1.0.0\n"

// history is a repository with a chart that says where it is from, and the SHAs of its
// first and of its second commit.
func history(t *testing.T) (r *servers.Repo, first, second string) {
	t.Helper()
	r = servers.NewRepo(t)
	first = r.Commit(t, "deploy/web/Chart.yaml", chartYAML, "deploy/web/from.txt", "first", "README.md", "x",
		"deploy/web/link.txt", "-> from.txt", "deploy/web/.hidden", "x", "docs/a/b.md", "x", "deploy/bad/Chart.yaml", chartYAML, "deploy/bad/out.txt", "-> ../../README.md")
	r.Tag(t, "v1", "a message")
	second = r.Commit(t, "deploy/web/from.txt", "second")
	r.Tag(t, "v2", "")
	r.Branch(t, "release/1")
	r.Commit(t, "deploy/web/from.txt", "release")
	r.Branch(t, "v2")
	r.Commit(t, "deploy/web/from.txt", "branch v2")
	// What is checked out is what HEAD says.
	r.Branch(t, "main2")
	r.Commit(t, "deploy/web/from.txt", "head")
	return r, first, second
}

func TestChartOfGit(t *testing.T) {
	r, first, second := history(t)
	s := servers.NewGit(t, servers.Options{Username: "me", Password: secret}, r)
	at := "git::" + s.URL + "/git/repo.git"
	web := at + "//deploy/web"
	right := ChartOptions{Credentials: Credentials{Username: "me", Password: secret, CABundle: s.CA}, URLRegex: "https://127"}
	tests := map[string]struct {
		chart   string
		change  func(*ChartOptions)
		want    string
		wantErr []string
	}{
		"HEAD":                               {chart: web, want: "head"},
		"a branch":                           {chart: web + "?ref=main", want: "second"},
		"a branch with a slash, and a depth": {chart: web + "?ref=release/1&depth=1", want: "release"},
		"a tag with a message":               {chart: web + "?ref=v1", want: "first"},
		"a branch before a tag":              {chart: web + "?ref=v2", want: "branch v2"},
		"the whole name of a tag":            {chart: web + "?ref=refs/tags/v2", want: "second"},
		"the SHA of a tip":                   {chart: web + "?ref=" + second, want: "second"},
		"the SHA of a commit before":         {chart: web + "?ref=" + first, want: "first"},
		"a SHA that is not there":            {chart: web + "?ref=" + strings.Repeat("0", 39) + "1", wantErr: []string{s.URL, "not among what git sent"}},
		"a short SHA":                        {chart: web + "?ref=" + first[:7], wantErr: []string{first[:7], "all 40 digits"}},
		"a branch that is not there":         {chart: web + "?ref=other", wantErr: []string{s.URL, `"other"`, "no branch and no tag"}},
		"a directory that is not there":      {chart: at + "//deploy/db", wantErr: []string{s.URL, `"deploy/db"`}},
		"a directory without a chart":        {chart: at + "//docs", wantErr: []string{s.URL, "no Chart.yaml"}},
		"a link that leads out":              {chart: at + "//deploy/bad", wantErr: []string{s.URL, "unsafe", `"out.txt"`}},
		"another repository":                 {chart: strings.Replace(web, "repo.git", "other.git", 1), wantErr: []string{"other.git", "404"}},
		"the regex matches what is written": {
			chart: web, change: func(o *ChartOptions) { o.URLRegex = "git::https://127" }, want: "head",
		},
		"another regex": {
			chart: web, change: func(o *ChartOptions) { o.URLRegex = "https://git.example.com/" },
			wantErr: []string{s.URL, "401", "no credentials were sent", "does not match"},
		},
		"a wrong password": {
			chart: web, change: func(o *ChartOptions) { o.Credentials.Password = "no" + secret },
			wantErr: []string{s.URL, "401", "credentials for this directory were sent"},
		},
		"credentials in the URL": {
			chart: strings.Replace(web, "https://", "https://me:"+secret+"@", 1), change: func(o *ChartOptions) { o.URLRegex = "" }, want: "head",
		},
		"wrong credentials in the URL": {
			chart: strings.Replace(web, "https://", "https://you:"+secret+"@", 1), wantErr: []string{"401", s.URL},
		},
		"another CA": {
			chart: web, change: func(o *ChartOptions) { o.Credentials.CABundle = nil }, wantErr: []string{s.URL, "unknown authority", "CA bundle"},
		},
		"no look at the certificate": {
			chart: web, change: func(o *ChartOptions) { o.Credentials.CABundle, o.Credentials.InsecureSkipTLSVerify = nil, true }, want: "head",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			options := right
			if tc.change != nil {
				tc.change(&options)
			}
			files, err := newCharts(t, options).Chart(t.Context(), bundle.ChartRef{Chart: tc.chart})
			if tc.wantErr != nil {
				wantError(t, err, tc.wantErr...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"Chart.yaml", "from.txt", "link.txt"}, names(files)); diff != "" {
				t.Error(diff)
			}
			if a, b := text(files, "from.txt"), text(files, "link.txt"); a != tc.want || b != tc.want {
				t.Errorf("got %q and %q, want %q", a, b, tc.want)
			}
		})
	}
	t.Run("a server that gives single commits", func(t *testing.T) {
		r.Configure(t, "uploadpack.allowAnySHA1InWant", "true")
		files, err := newCharts(t, right).Chart(t.Context(), bundle.ChartRef{Chart: web + "?ref=" + first})
		if err != nil || text(files, "from.txt") != "first" {
			t.Errorf("error %v, files %q", err, names(files))
		}
	})
}

func TestGitIsBounded(t *testing.T) {
	r := servers.NewRepo(t)
	r.Commit(t, "Chart.yaml", chartYAML, "zeros.txt", strings.Repeat("0", 3*mib))
	s := servers.NewGit(t, servers.Options{PlainHTTP: true}, r)
	ref := bundle.ChartRef{Chart: "git::" + s.URL + "/git/repo.git"}
	tests := map[string]struct {
		change  func(*limits)
		wantErr string
	}{
		"the pack":            {func(l *limits) { l.pack = 1000 }, "more than 1000 bytes"},
		"what it inflates to": {func(l *limits) { l.inflated = 2 * mib }, "what git sent has more than 2 MiB"},
		"the files":           {func(l *limits) { l.unpacked = mib }, "what is in it has more than 1 MiB"},
		"their number":        {func(l *limits) { l.files = 1 }, "more than 1 files"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCharts(t, ChartOptions{})
			tc.change(&c.limits)
			_, err := c.Chart(t.Context(), ref)
			wantError(t, err, "too large", tc.wantErr, s.URL)
		})
	}
}

func TestChartOfGitOverSSH(t *testing.T) {
	r, first, _ := history(t)
	s := servers.NewSSH(t, r)
	host, port, err := net.SplitHostPort(s.Host)
	if err != nil {
		t.Fatal(err)
	}
	right := ChartOptions{Credentials: Credentials{SSHPrivateKey: s.PrivateKey, KnownHosts: s.KnownHosts}, URLRegex: "ssh://git@127"}
	web := "git::ssh://git@" + s.Host + "/repo.git//deploy/web"
	other := servers.NewSSH(t, r)
	tests := map[string]struct {
		chart   string
		change  func(*ChartOptions)
		want    string
		wantErr []string
	}{
		"a branch":                       {chart: web + "?ref=main", want: "second"},
		"without git:: and with no user": {chart: "ssh://" + s.Host + "/repo.git//deploy/web?ref=" + first, change: func(o *ChartOptions) { o.URLRegex = "ssh://127" }, want: "first"},
		"no known hosts":                 {chart: web, change: func(o *ChartOptions) { o.Credentials.KnownHosts = nil }, wantErr: []string{host, port, "known hosts have no key", "ssh-keyscan"}},
		"another key of the host": {
			chart: web,
			change: func(o *ChartOptions) {
				o.Credentials.KnownHosts = []byte(strings.Replace(string(other.KnownHosts), other.Host[len("127.0.0.1:"):], port, 1))
			},
			wantErr: []string{s.Host, "another key"},
		},
		"another key of the user": {chart: web, change: func(o *ChartOptions) { o.Credentials.SSHPrivateKey = other.PrivateKey }, wantErr: []string{s.Host, "unable to authenticate"}},
		"no key":                  {chart: web, change: func(o *ChartOptions) { o.Credentials.SSHPrivateKey = nil }, wantErr: []string{s.Host, "needs a key", "none are given"}},
		"another regex":           {chart: web, change: func(o *ChartOptions) { o.URLRegex = "https://" }, wantErr: []string{s.Host, "needs a key", "does not match"}},
		"another repository":      {chart: strings.Replace(web, "repo.git", "x.git", 1), wantErr: []string{s.Host, "x.git"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			options := right
			if tc.change != nil {
				tc.change(&options)
			}
			files, err := newCharts(t, options).Chart(t.Context(), bundle.ChartRef{Chart: tc.chart})
			if tc.wantErr != nil {
				wantError(t, err, tc.wantErr...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := text(files, "from.txt"); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	t.Run("one that never says a word", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		options := right
		options.Timeout = 200 * time.Millisecond
		options.Credentials.KnownHosts = []byte(strings.ReplaceAll(string(s.KnownHosts), port, listener.Addr().String()[len("127.0.0.1:"):]))
		_, err = newCharts(t, options).Chart(t.Context(), bundle.ChartRef{Chart: strings.Replace(web, s.Host, listener.Addr().String(), 1)})
		wantError(t, err, listener.Addr().String(), "did not answer in time")
	})
}
