package bundle

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

// shelf is a repository in memory that remembers what was asked for.
type shelf struct {
	files []content.File
	deps  []content.File
	err   error
	asked []ChartRef
	// completed are the names of the files of each chart whose dependencies were asked for.
	completed [][]string
}

func (s *shelf) Chart(_ context.Context, ref ChartRef) ([]content.File, error) {
	s.asked = append(s.asked, ref)
	return s.files, s.err
}

func (s *shelf) Dependencies(_ context.Context, _ string, chart []content.File) ([]content.File, error) {
	var names []string
	for _, f := range chart {
		names = append(names, f.Name)
	}
	s.completed = append(s.completed, names)
	return s.deps, s.err
}

func (s *shelf) Unpack([]byte) ([]content.File, error) { return s.files, s.err }

func chartFiles(names ...string) []content.File {
	var all []content.File
	for _, n := range names {
		all = append(all, content.File{Name: n, Data: []byte("name: x\n")})
	}
	return all
}

func TestChartsFromElsewhere(t *testing.T) {
	s := &shelf{files: chartFiles("Chart.yaml", "templates/a.yaml")}
	b := tree{"a/fleet.yaml": `
helm:
  repo: https://charts.example.com
  chart: web
  version: 1.x
targetCustomizations:
- name: same
  helm: {values: {a: 1}}
- name: none
  namespace: x
- name: newer
  helm: {version: 2.x}
- name: also newer
  helm: {version: 2.x}
`}.one(t, Request{Charts: s})
	ref := func(version string) ChartRef {
		return ChartRef{Dir: "a", Repo: "https://charts.example.com", Chart: "web", Version: version}
	}
	if diff := cmp.Diff([]ChartRef{ref("1.x"), ref("2.x")}, s.asked); diff != "" {
		t.Error(diff)
	}
	one, two := content.ChartDir("web", "https://charts.example.com", "1.x"), content.ChartDir("web", "https://charts.example.com", "2.x")
	want := []string{one + "/Chart.yaml", one + "/templates/a.yaml", two + "/Chart.yaml", two + "/templates/a.yaml"}
	if two < one {
		want = append(want[2:], want[:2]...)
	}
	if diff := cmp.Diff(want, resourceNames(b)); diff != "" {
		t.Error(diff)
	}
	var versions []string
	for _, target := range b.Spec.Targets {
		if target.Helm != nil {
			versions = append(versions, target.Helm.Chart+" "+target.Helm.Version)
		}
	}
	if diff := cmp.Diff([]string{"web 1.x", "web 2.x", "web 2.x"}, versions); diff != "" {
		t.Error(diff)
	}
}

func TestChartsOnDisk(t *testing.T) {
	beside := content.ChartDir("../chart", "", "")
	tests := map[string]struct {
		chart string
		want  []string
	}{
		"in the directory of the bundle":  {"c", []string{"c/Chart.yaml"}},
		"the directory itself":            {".", []string{"c/Chart.yaml"}},
		"with a dot":                      {"./c", []string{"c/Chart.yaml"}},
		"beside it, carried as elsewhere": {"../chart", []string{beside + "/Chart.yaml", beside + "/values.yaml", "c/Chart.yaml"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := tree{
				"b/fleet.yaml": "helm: {chart: " + tc.chart + "}\n", "b/c/Chart.yaml": "name: c\n",
				"chart/Chart.yaml": "name: d\n", "chart/values.yaml": "", "chart/.fleetignore": "*.md\n", "chart/README.md": "",
			}.one(t, Request{Paths: []string{"b"}})
			if diff := cmp.Diff(tc.want, resourceNames(b)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAChartThatIsNotCarriedIsAWarning(t *testing.T) {
	for name, files := range map[string]tree{
		"no chart": {"c/x.yaml": manifest},
		"ignored":  {"c/Chart.yaml": "name: c\n", ".fleetignore": "Chart.yaml\n", "x.yaml": manifest},
	} {
		t.Run(name, func(t *testing.T) {
			files["fleet.yaml"] = "helm: {chart: c}\n"
			made, err := files.read(t, Request{})
			if err != nil {
				t.Fatal(err)
			}
			if w := strings.Join(made[0].Warnings, " "); !strings.Contains(w, "fleet.yaml:1:15: helm.chart: the bundle carries no c/Chart.yaml") {
				t.Errorf("warnings %q", w)
			}
		})
	}
}

func TestChartsThatCannotBeHad(t *testing.T) {
	down := errors.New("the server is down")
	tests := map[string]struct {
		helm   string
		charts Charts
		want   []string
	}{
		"nobody fetches":                 {"{repo: https://charts.example.com, chart: web}", nil, []string{"b/fleet.yaml:1:49: helm.chart", `chart "web" of repository "https://charts.example.com"`, "no charts are fetched"}},
		"only a repository":              {"{repo: oci://reg/web}", nil, []string{"b/fleet.yaml:1:14: helm.repo", "oci://reg/web"}},
		"an address":                     {"{chart: 'https://me:pass@example.com/c.tgz?token=abc'}", nil, []string{"b/fleet.yaml:1:15", "https://me:xxxxx@example.com/c.tgz"}},
		"the server says no":             {"{repo: https://x, chart: web, version: 1.x}", &shelf{err: down}, []string{"b/fleet.yaml:1:32", `in version "1.x"`, down.Error()}},
		"no such directory":              {"{chart: ./c}", &shelf{}, []string{"b/fleet.yaml:1:15", `no directory "./c" in b`}},
		"no repository":                  {"{chart: web}", &shelf{}, []string{`no directory "web" in b`, "helm.repo"}},
		"a file":                         {"{chart: x.yaml}", &shelf{}, []string{`"x.yaml" is a file`}},
		"a directory that is none":       {"{chart: ../empty}", &shelf{}, []string{"empty", "no Chart.yaml"}},
		"nothing beside":                 {"{chart: ../nowhere}", &shelf{}, []string{"nowhere", "does not exist"}},
		"an archive on disk of no chart": {"{chart: ../web.tgz}", &shelf{files: chartFiles("README.md")}, []string{"web.tgz: there is no Chart.yaml"}},
		"an archive that is broken":      {"{chart: ../web.tgz}", &shelf{err: down}, []string{"web.tgz: " + down.Error()}},
		"an archive and nobody unpacks":  {"{chart: ../web.tgz}", nil, []string{"web.tgz is an archive, and none are unpacked here"}},
		"an archive of no chart":         {"{chart: 'https://x/c.tgz'}", &shelf{files: chartFiles("README.md")}, []string{"no Chart.yaml"}},
		"an archive that escapes":        {"{chart: 'https://x/c.tgz'}", &shelf{files: chartFiles("Chart.yaml", "../x")}, []string{`"../x"`, "leads out"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := tree{"b/fleet.yaml": "helm: " + tc.helm + "\n", "b/x.yaml": manifest, "empty/x": "", "web.tgz": "x"}.read(t, Request{Paths: []string{"b"}, Charts: tc.charts})
			wantError(t, err, tc.want...)
			for _, private := range []string{"pass@", "abc"} {
				if strings.Contains(err.Error(), private) {
					t.Errorf("error %v shows %q", err, private)
				}
			}
		})
	}
}

func TestChartArchivesOnDisk(t *testing.T) {
	for name, chart := range map[string]string{"in the directory": "web-1.0.0.tgz", "beside it": "../web.tar.gz"} {
		t.Run(name, func(t *testing.T) {
			s := &shelf{files: chartFiles("web/Chart.yaml", "web/templates/a.yaml")}
			made, err := tree{"b/fleet.yaml": "helm: {chart: " + chart + "}\n", "b/web-1.0.0.tgz": "x", "web.tar.gz": "x"}.read(t, Request{Paths: []string{"b"}, Charts: s})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, r := range made[0].Bundle.Spec.Resources {
				names = append(names, r.Name)
			}
			dir := content.ChartDir(chart, "", "")
			if !slices.Contains(names, dir+"/web/Chart.yaml") || !slices.Contains(names, dir+"/web/templates/a.yaml") || len(s.asked) > 0 {
				t.Errorf("files %q, fetched %v", names, s.asked)
			}
		})
	}
}

func TestDependencies(t *testing.T) {
	fetched := "name: x\ndependencies:\n- name: lib\n  repository: https://charts.example.com\n"
	beside := "name: x\ndependencies:\n- name: lib\n  repository: file://../lib\n"
	archive := []content.File{{Name: "charts/lib-1.0.0.tgz", Data: []byte("x")}}
	tests := map[string]struct {
		files     tree
		charts    *shelf
		want      []string
		completed [][]string
		wantError []string
	}{
		"are fetched": {
			tree{"b/Chart.yaml": fetched}, &shelf{deps: archive},
			[]string{"Chart.yaml", "charts/lib-1.0.0.tgz"}, [][]string{{"Chart.yaml"}}, nil,
		},
		"of a chart in a sub directory": {
			tree{"b/c/Chart.yaml": fetched, "b/x.yaml": ""}, &shelf{deps: archive},
			[]string{"c/Chart.yaml", "c/charts/lib-1.0.0.tgz", "x.yaml"}, [][]string{{"Chart.yaml"}}, nil,
		},
		"of an old chart": {
			tree{"b/Chart.yaml": "name: x\n", "b/requirements.yaml": fetched}, &shelf{deps: archive},
			[]string{"Chart.yaml", "charts/lib-1.0.0.tgz", "requirements.yaml"}, [][]string{{"Chart.yaml", "requirements.yaml"}}, nil,
		},
		"of a chart from elsewhere": {
			tree{"b/fleet.yaml": "helm: {chart: 'https://x/c.tgz'}\n"}, &shelf{files: []content.File{{Name: "Chart.yaml", Data: []byte(fetched)}}, deps: archive},
			[]string{content.ChartDir("https://x/c.tgz", "", "") + "/Chart.yaml", content.ChartDir("https://x/c.tgz", "", "") + "/charts/lib-1.0.0.tgz"}, [][]string{{"Chart.yaml"}}, nil,
		},
		"beside a chart from elsewhere are not looked for here": {
			tree{"b/fleet.yaml": "helm: {chart: 'https://x/c.tgz'}\n", "lib/Chart.yaml": "name: lib\n"}, &shelf{files: []content.File{{Name: "Chart.yaml", Data: []byte(beside)}}},
			[]string{content.ChartDir("https://x/c.tgz", "", "") + "/Chart.yaml"}, [][]string{{"Chart.yaml"}}, nil,
		},
		"are not, if that is disabled": {
			tree{"b/Chart.yaml": fetched, "b/fleet.yaml": "helm: {disableDependencyUpdate: true}\n"}, &shelf{deps: archive},
			[]string{"Chart.yaml"}, nil, nil,
		},
		"are not, if there are none": {tree{"b/Chart.yaml": "name: x\n"}, &shelf{deps: archive}, []string{"Chart.yaml"}, nil, nil},
		"are there already, and nobody fetches": {
			tree{"b/Chart.yaml": fetched, "b/charts/lib-2.0.0.tgz": "x"}, nil, []string{"Chart.yaml", "charts/lib-2.0.0.tgz"}, nil, nil,
		},
		"are missing, and nobody fetches": {tree{"b/Chart.yaml": fetched}, nil, nil, nil, []string{"b/Chart.yaml", "dependencies", "helm dependency build", "disableDependencyUpdate"}},
		"are in a directory beside": {
			tree{"b/Chart.yaml": beside, "lib/Chart.yaml": "name: lib\n", "lib/values.yaml": ""}, nil,
			[]string{"Chart.yaml", "charts/lib/Chart.yaml", "charts/lib/values.yaml"}, nil, nil,
		},
		"cannot be fetched":  {tree{"b/Chart.yaml": fetched}, &shelf{err: errors.New("down")}, nil, nil, []string{"b/Chart.yaml", "down"}},
		"lead out":           {tree{"b/Chart.yaml": fetched}, &shelf{deps: chartFiles("../x")}, nil, nil, []string{`"../x"`, "leads out"}},
		"of a broken chart":  {tree{"b/Chart.yaml": "a: [\n"}, &shelf{}, nil, nil, []string{"b/Chart.yaml", "no YAML"}},
		"beside with a path": {tree{"b/Chart.yaml": strings.Replace(beside, "name: lib", "name: ../lib", 1), "lib/Chart.yaml": ""}, nil, nil, nil, []string{"no name of a chart"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			q := Request{Paths: []string{"b"}}
			if tc.charts != nil {
				q.Charts = tc.charts
			}
			made, err := tc.files.read(t, q)
			if tc.wantError != nil {
				wantError(t, err, tc.wantError...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, resourceNames(made[0].Bundle)); diff != "" {
				t.Error(diff)
			}
			if tc.charts != nil {
				if diff := cmp.Diff(tc.completed, tc.charts.completed); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}
