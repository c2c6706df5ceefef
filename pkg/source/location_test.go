package source

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/fleet-addon/pkg/bundle"
)

func TestLocate(t *testing.T) {
	type found struct {
		Kind                        kind
		URL, Name, Subdir, Ref, Sum string
	}
	tests := map[string]struct {
		ref     bundle.ChartRef
		want    found
		wantErr []string
	}{
		"a repository":           {ref: bundle.ChartRef{Repo: "https://x/charts", Chart: "web"}, want: found{Kind: inRepository, URL: "https://x/charts", Name: "web"}},
		"a registry":             {ref: bundle.ChartRef{Chart: "oci://x/charts/web"}, want: found{Kind: inRegistry, URL: "oci://x/charts/web"}},
		"an archive":             {ref: bundle.ChartRef{Chart: "https://x/web.tgz"}, want: found{Kind: inArchive, URL: "https://x/web.tgz"}},
		"an archive, forced":     {ref: bundle.ChartRef{Chart: "https::https://x/web"}, want: found{Kind: inArchive, URL: "https://x/web"}},
		"all of an archive":      {ref: bundle.ChartRef{Chart: "https://x/web.tgz//a/b?t=1%2F2&checksum=sha256:00&archive=tgz&u"}, want: found{Kind: inArchive, URL: "https://x/web.tgz?t=1%2F2&u", Subdir: "a/b", Sum: "sha256:00"}},
		"git over HTTPS":         {ref: bundle.ChartRef{Chart: "git::https://x/o/r.git//a/b?ref=v1&depth=3"}, want: found{Kind: inGit, URL: "https://x/o/r.git", Subdir: "a/b", Ref: "v1"}},
		"git over SSH":           {ref: bundle.ChartRef{Chart: "git::ssh://git@x:2222/o/r//a/"}, want: found{Kind: inGit, URL: "ssh://git@x:2222/o/r", Subdir: "a"}},
		"git over SSH by scp":    {ref: bundle.ChartRef{Chart: "git@x:o/r//a?ref=v1"}, want: found{Kind: inGit, URL: "ssh://git@x/o/r", Subdir: "a", Ref: "v1"}},
		"the same with git::":    {ref: bundle.ChartRef{Chart: "git::git@x:o/r"}, want: found{Kind: inGit, URL: "ssh://git@x/o/r"}},
		"a host of git":          {ref: bundle.ChartRef{Chart: "github.com/o/r/a/b?ref=v1"}, want: found{Kind: inGit, URL: "https://github.com/o/r.git", Subdir: "a/b", Ref: "v1"}},
		"a host of git, with //": {ref: bundle.ChartRef{Chart: "gitlab.com/o/r.git//a"}, want: found{Kind: inGit, URL: "https://gitlab.com/o/r.git", Subdir: "a"}},
		"nothing":                {wantErr: []string{"helm.chart and helm.repo are empty"}},
		"a directory":            {ref: bundle.ChartRef{Chart: "charts/web"}, wantErr: []string{`helm.chart "charts/web"`, "neither a directory of the bundle nor a URL"}},
		"a file":                 {ref: bundle.ChartRef{Chart: "file:///etc"}, wantErr: []string{"helm.chart", "no host"}},
		"a file of a host":       {ref: bundle.ChartRef{Chart: "git::file://x/etc"}, wantErr: []string{"helm.chart", "not supported", "git::https://"}},
		"a bucket":               {ref: bundle.ChartRef{Chart: "s3::https://x/y"}, wantErr: []string{"helm.chart", "not supported"}},
		"git without a key":      {ref: bundle.ChartRef{Chart: "git::git://x/y"}, wantErr: []string{"helm.chart", "not supported"}},
		"a key in a URL":         {ref: bundle.ChartRef{Chart: "git::ssh://git@x/y?sshkey=" + secret}, wantErr: []string{"helm.chart", "credential"}},
		"what git has not":       {ref: bundle.ChartRef{Chart: "git::https://x/y?token=" + secret}, wantErr: []string{"helm.chart", "?token="}},
		"a repository of files":  {ref: bundle.ChartRef{Repo: "file:///charts", Chart: "web"}, wantErr: []string{"helm.repo", "no host"}},
		"a repository of git":    {ref: bundle.ChartRef{Repo: "ssh://x/charts", Chart: "web"}, wantErr: []string{"helm.repo", "https://, http:// or oci://"}},
		"a URL that is none":     {ref: bundle.ChartRef{Chart: "https://me:" + secret + "@x:port/y?t=" + secret}, wantErr: []string{"helm.chart", "https://x:port/y"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := locate(tc.ref)
			if tc.wantErr != nil {
				wantError(t, err, tc.wantErr...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, found{got.kind, got.url.String(), got.name, got.subdir, got.ref, got.checksum}); diff != "" {
				t.Error(diff)
			}
		})
	}
}
