package source

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/test/servers"
)

// filesOf are those of a chart as they stand in its directory.
func filesOf(c *chart.Chart) []content.File {
	var out []content.File
	for _, f := range c.Raw {
		out = append(out, content.File{Name: f.Name, Data: f.Data})
	}
	return out
}

// lockOf is a Chart.lock as Helm writes it.
func lockOf(t *testing.T, c *chart.Chart, locked ...*chart.Dependency) content.File {
	t.Helper()
	sum, err := digest([2][]*chart.Dependency{c.Metadata.Dependencies, locked})
	if err != nil {
		t.Fatal(err)
	}
	data, err := yaml.Marshal(chart.Lock{Dependencies: locked, Digest: sum})
	if err != nil {
		t.Fatal(err)
	}
	return content.File{Name: "Chart.lock", Data: data}
}

func archived(t *testing.T, c *chart.Chart) content.File {
	t.Helper()
	name, data := servers.Archive(t, c)
	return content.File{Name: "charts/" + name, Data: data}
}

func TestDependencies(t *testing.T) {
	r := servers.NewRepository(t, servers.Options{Username: "me", Password: secret}, web(t)...)
	on := func(repository, name, version, alias string) *chart.Dependency {
		return &chart.Dependency{Name: name, Version: version, Repository: repository, Alias: alias}
	}
	needs := func(deps ...*chart.Dependency) *chart.Chart { return servers.Chart(t, "shop", "0.1.0", deps) }
	one := needs(on(r.URL, "web", "^1.0.0", ""))
	twice := needs(on(r.URL, "web", "^1.0.0", "old"), on(r.URL, "web", "^2.0.0", "new"))
	local := needs(on("file://./parts/db", "db", "1.x", ""))
	db := []content.File{
		{Name: "parts/db/Chart.yaml", Data: []byte("apiVersion: v2\nname: db\nversion: 1.4.0\n")},
		{Name: "parts/db/templates/a.yaml", Data: []byte("a: b")},
	}
	tests := map[string]struct {
		files   []content.File
		want    []string
		wantErr []string
	}{
		"a chart without any":              {files: filesOf(needs())},
		"the newest that fulfils it":       {files: filesOf(one), want: []string{"charts/web-1.10.0.tgz"}},
		"the locked version":               {files: append(filesOf(one), lockOf(t, one, on(r.URL, "web", "1.2.3", ""))), want: []string{"charts/web-1.2.3.tgz"}},
		"a lock of other dependencies":     {files: append(filesOf(one), lockOf(t, twice, on(r.URL, "web", "1.2.3", ""))), wantErr: []string{"chart shop", "Chart.lock", "helm dependency update"}},
		"what is there stays":              {files: append(filesOf(one), archived(t, web(t)[0]))},
		"one name in two versions":         {files: filesOf(twice), want: []string{"charts/web-1.10.0.tgz", "charts/web-2.0.0.tgz"}},
		"one of two versions is there":     {files: append(filesOf(twice), archived(t, web(t)[3])), want: []string{"charts/web-1.10.0.tgz"}},
		"both of a lock":                   {files: append(filesOf(twice), lockOf(t, twice, on(r.URL, "web", "1.0.0", ""), on(r.URL, "web", "2.0.0", ""))), want: []string{"charts/web-1.0.0.tgz", "charts/web-2.0.0.tgz"}},
		"a directory of the chart":         {files: append(filesOf(local), db...), want: []string{"charts/db-1.4.0.tgz"}},
		"a directory that is not there":    {files: filesOf(local), wantErr: []string{`"db"`, "file://./parts/db", "no directory of the chart"}},
		"a directory outside":              {files: filesOf(needs(on("file://../db", "db", "1.x", ""))), wantErr: []string{"file://../db", "outside of the chart", "helm dependency build"}},
		"a directory outside, in a circle": {files: filesOf(needs(on("file://parts/../../shop", "db", "1.x", ""))), wantErr: []string{"outside of the chart"}},
		"an absolute directory":            {files: filesOf(needs(on("file:///etc", "db", "1.x", ""))), wantErr: []string{"outside of the chart"}},
		"a directory with another chart":   {files: append(filesOf(needs(on("file://parts/db", "cache", "1.x", ""))), db...), wantErr: []string{`the chart "db"`}},
		"a directory with another version": {files: append(filesOf(needs(on("file://parts/db", "db", "2.x", ""))), db...), wantErr: []string{"1.4.0", "2.x"}},
		"a name of helm repo add":          {files: filesOf(needs(on("@stable", "db", "1.x", ""))), wantErr: []string{"@stable", "helm repo add"}},
		"an alias of helm repo add":        {files: filesOf(needs(on("alias:stable", "db", "1.x", ""))), wantErr: []string{"alias:stable", "helm repo add"}},
		"no repository, and not there":     {files: filesOf(needs(on("", "db", "1.x", ""))), wantErr: []string{`"db"`, "not in charts/"}},
		"a repository that is none":        {files: filesOf(needs(on("s3://bucket", "db", "1.x", ""))), wantErr: []string{"s3://bucket", "not supported"}},
		"a version that is not there":      {files: filesOf(needs(on(r.URL, "web", "^7", ""))), wantErr: []string{`"web"`, "chart shop", r.URL, "^7"}},
		"no chart":                         {files: []content.File{{Name: "a.yaml"}}, wantErr: []string{"Chart.yaml"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCharts(t, ChartOptions{
				ByPath:   map[string]Credentials{"apps/shop": {Username: "me", Password: secret, CABundle: r.CA}},
				URLRegex: "https://127",
			})
			got, err := c.Dependencies(t.Context(), "apps/shop", tc.files)
			if tc.wantErr != nil {
				wantError(t, err, tc.wantErr...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, names(got)); diff != "" {
				t.Error(diff)
			}
			whole(t, append(tc.files, got...))
			again, err := c.Dependencies(t.Context(), "apps/shop", tc.files)
			if diff := cmp.Diff(got, again); diff != "" || err != nil {
				t.Errorf("the same chart gave something else: %v %s", err, diff)
			}
		})
	}
}

// whole wants Helm to find all dependencies of a chart.
func whole(t *testing.T, files []content.File) {
	t.Helper()
	var parts []*loader.BufferedFile
	for _, f := range files {
		parts = append(parts, &loader.BufferedFile{Name: f.Name, Data: f.Data})
	}
	c, err := loader.LoadFiles(parts)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(c.Dependencies()), len(c.Metadata.Dependencies); got != want {
		t.Errorf("Helm finds %d dependencies, want %d", got, want)
	}
}
