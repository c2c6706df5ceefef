package target

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"sigs.k8s.io/yaml"
)

func edge() *Cluster {
	return &Cluster{
		Name:        "edge1",
		Labels:      map[string]string{"env": "dev", "zone": "eu", "long/name": "x", "number": "007", "yes": "true"},
		Annotations: map[string]string{"note": "hello: world"},
		Claims:      map[string]string{"version.openshift.io": "4.16", "id": "c-1"},
		Values: map[string]any{
			"top": "foo", "nested": map[string]any{"a": map[string]any{"b": "bar"}}, "items": []any{"one", "two"}, "secret": "hunter2",
		},
	}
}

func TestRender(t *testing.T) {
	cases := map[string]struct{ helm, want string }{
		"nothing to fill in": {`{values: {a: 1}}`, `{values: {a: 1}}`},
		"a label": {`{values: {a: global.fleet.clusterLabels.env, b: {c: [{d: global.fleet.clusterLabels.zone}]}}}`,
			`{values: {a: dev, b: {c: [{d: eu}]}}}`},
		"a label in a list":               {`{values: {a: [global.fleet.clusterLabels.env]}}`, `{values: {a: [dev]}}`},
		"a label that is not there":       {`{values: {a: global.fleet.clusterLabels.no, b: [global.fleet.clusterLabels.no]}}`, `{values: {a: "", b: [""]}}`},
		"a label with a slash":            {`{values: {a: global.fleet.clusterLabels.long/name}}`, `{values: {a: x}}`},
		"a label is text":                 {`{values: {a: global.fleet.clusterLabels.number, b: global.fleet.clusterLabels.yes}}`, `{values: {a: "007", b: "true"}}`},
		"a label beside templates is too": {`{values: {a: {x: global.fleet.clusterLabels.number, y: "${ .ClusterName }"}, b: global.fleet.clusterLabels.no}}`, `{values: {a: {x: "007", y: edge1}, b: ""}}`},
		"a label with templates off":      {`{disablePreProcess: true, values: {a: global.fleet.clusterLabels.env, b: "${ nonsense"}}`, `{disablePreProcess: true, values: {a: dev, b: "${ nonsense"}}`},
		"names": {`{values: {a: "${ .ClusterName }", b: "${ .ClusterNamespace }", c: 'x/${ index .ClusterLabels "long/name" }'}}`,
			`{values: {a: edge1, b: apps, c: x/x}}`},
		"labels, annotations, claims": {`{values: {a: "${ .ClusterLabels.env }", b: "${ .ClusterAnnotations.note | quote }", c: '${ index .ClusterClaims "version.openshift.io" | quote }'}}`,
			`{values: {a: dev, b: "hello: world", c: "4.16"}}`},
		"values": {`{values: {a: "${ .ClusterValues.top | upper }", b: "${ .ClusterValues.nested.a.b }", c: '${ join "," .ClusterValues.items }'}}`,
			`{values: {a: FOO, b: bar, c: "one,two"}}`},
		"a label that may be missing": {`{values: {a: '${ if hasKey .ClusterLabels "no" }${ .ClusterLabels.no }${ else }none${ end }'}}`, `{values: {a: none}}`},
		"a list and a dict from JSON": {`{values: {a: "${ list 1 2 | toJson }", b: '${ dict "x" .ClusterName | toJson }'}}`, `{values: {a: [1, 2], b: {x: edge1}}}`},
		"a number stays one":          {`{values: {a: "${ len .ClusterValues.items }", b: "x${ len .ClusterValues.items }"}}`, `{values: {a: 2, b: x2}}`},
		"a key":                       {`{values: {a: {"k_${ .ClusterLabels.env }": 1}, "top_${ .ClusterName }": 2}}`, `{values: {a: {k_dev: 1}, top_edge1: 2}}`},
		"a text of many lines":        {"{values: {a: \"${ range .ClusterValues.items }\\n- ${ . }\\n${ end }\"}}", "{values: {a: \"\\n- one\\n\\n- two\"}}"},
		"a template over two keys":    {`{values: {a: "${ if true }1", b: "2${ end }", c: static}}`, `{values: {a: 1, b: 2, c: static}}`},
		"a template around a key":     {`{values: {a: "1${ if false }", b: gone, c: "${ end }"}}`, `{values: {a: 1}}`},
		"a variable over two keys":    {`{values: {a: "${ $x := .ClusterName }1", b: static, c: "${ $x }"}}`, `{values: {a: 1, b: static, c: edge1}}`},
		"templateValues": {`{values: {a: 1, list: [9], map: {old: 1}}, templateValues: {list: "${ range .ClusterValues.items }\n- ${ . }\n${ end }", map: "{new: ${ .ClusterName }}", text: "${ .ClusterName }", none: ""}}`,
			`{values: {a: 1, list: [one, two], map: {new: edge1}, text: edge1, none: null}}`},
		"templateValues alone":               {`{templateValues: {a: "${ list 1 | toJson }"}}`, `{values: {a: [1]}}`},
		"templateValues over templated ones": {`{values: {a: "${ .ClusterName }", b: "${ .ClusterName }"}, templateValues: {a: x}}`, `{values: {a: x, b: edge1}}`},
		"templateValues over labels":         {`{values: {a: global.fleet.clusterLabels.env, b: 1}, templateValues: {b: "2"}}`, `{values: {a: dev, b: 2}}`},
		"templateValues with templates off":  {`{disablePreProcess: true, values: {a: 1}, templateValues: {a: "2"}}`, `{disablePreProcess: true, values: {a: 1}}`},
		"an anchor":                          {`{templateValues: {a: "{x: &x {y: ${ .ClusterName }}, z: *x}"}}`, `{values: {a: {x: {y: edge1}, z: {y: edge1}}}}`},
		"a template that changes its values": {`{values: {a: '${ $_ := set .ClusterValues "top" "new" }${ .ClusterValues.top }'}}`, `{values: {a: new}}`},
		"no values":                          {`{chart: x}`, `{chart: x}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o, cluster := options(t, `{helm: `+tc.helm+`}`), edge()
			got, err := Render("apps", o, cluster)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(options(t, `{helm: `+tc.want+`}`), got); diff != "" {
				t.Errorf("rendered (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(options(t, `{helm: `+tc.helm+`}`), o); diff != "" {
				t.Errorf("the options were changed (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(edge(), cluster, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("the cluster was changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRenderOnAClusterWithoutLabels(t *testing.T) {
	got, err := Render("apps", options(t, `{helm: {values: {a: "${ .ClusterName }", b: "${ len .ClusterLabels }"}}}`), &Cluster{Name: "bare"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(options(t, `{helm: {values: {a: bare, b: 0}}}`), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRenderErrors(t *testing.T) {
	deep := "global.fleet.clusterLabels.env"
	for range maxLabelDepth + 1 {
		deep = "{a: " + deep + "}"
	}
	cases := map[string]struct {
		helm string
		want []string
	}{
		"a missing label":                {`{values: {a: 1, b: {c: ["${ .ClusterLabels.no }"]}}}`, []string{`cluster edge1: helm.values.b.c[0]: <.ClusterLabels.no>: map has no entry for key "no"`}},
		"a missing label in a key":       {`{values: {b: {"${ .ClusterLabels.no }": 1}}}`, []string{`helm.values.b.`, `map has no entry for key "no"`}},
		"in templateValues":              {`{templateValues: {list: "\n${ .ClusterLabels.no }"}}`, []string{`cluster edge1: helm.templateValues[list]: line 2: <.ClusterLabels.no>: map has no entry`}},
		"a broken template":              {`{values: {a: {b: "${ if"}, z: hunter2}}`, []string{`helm.values.a.b: line 1: `}},
		"two halves that do not fit":     {`{values: {a: "${ if true }", z: hunter2}}`, []string{`helm.values.a: line 1: unexpected EOF`}},
		"a broken one in templateValues": {`{templateValues: {x: "${ nonsense }"}}`, []string{`helm.templateValues[x]: line 1: calls a function that templates do not have`}},
		"what is no YAML":                {`{templateValues: {x: "a: [${ .ClusterValues.secret }"}}`, []string{`helm.templateValues[x]: what the template gives is no valid YAML`}},
		"values that are no YAML":        {`{values: {x: '${ print .ClusterValues.secret ":" " " "b:" " " "c" }'}}`, []string{`helm.values: what the templates give is no valid YAML`}},
		"too much":                       {`{values: {x: '${ repeat 2000000 "x" }'}}`, []string{`helm.values.x: <repeat`, `a value of more than`}},
		"aliases that explode": {`{templateValues: {x: "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]"}}`,
			[]string{`helm.templateValues[x]`, `its aliases make more than`}},
		"a long text many times":   {`{templateValues: {x: 'a: &a ${ repeat 99999 "x" }${ print "\nb: [" }${ range 99 }*a,${ end }]'}}`, []string{`its aliases make more than`}},
		"a label very deep":        {`{values: ` + deep + `}`, []string{`nests deeper than 50`}},
		"a value that it is given": {`{values: {x: "${ .ClusterValues.secret | mustFromJson }"}}`, []string{`mustFromJson does not take what it is given`}},
		"YAML that nests":          {`{templateValues: {x: '${ repeat 200 "[" }${ repeat 200 "]" }'}}`, []string{`nests deeper than 100`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Render("apps", options(t, `{helm: `+tc.helm+`}`), edge())
			for _, want := range tc.want {
				checkError(t, err, want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error %q quotes a value", err)
			}
		})
	}
}

func TestBrokenClusterValuesMatterToThoseOnlyThatUseThem(t *testing.T) {
	c := edge()
	c.ValuesError = errors.New("broken")
	for text, want := range map[string]string{
		`{helm: {values: {a: "${ .ClusterLabels.env }"}}}`:                     "",
		`{helm: {values: {a: "${ .ClusterValues.top }"}}}`:                     "cluster edge1: broken",
		`{helm: {templateValues: {a: "${ range .ClusterValues }${ end }"}}}`:   "cluster edge1: broken",
		`{helm: {values: {a: "${ toJson . }"}}}`:                               "cluster edge1: broken",
		`{helm: {values: {a: "global.fleet.clusterLabels.env", b: "static"}}}`: "",
	} {
		_, err := Render("apps", options(t, text), c)
		checkError(t, err, want)
	}
}

// Clusters that are the same to the templates share what they give; others do not.
func TestMatchesShareWhatTheTemplatesGive(t *testing.T) {
	b := bundle(fleet.BundleTarget{ClusterSelector: everything})
	b.Spec.BundleDeploymentOptions = options(t, `{helm: {values: {a: "${ .ClusterLabels.env }", static: {b: [1]}}}}`)
	matches, err := Select(b, nil, fleetClusters[:2])
	if err != nil {
		t.Fatal(err)
	}
	one, two := Cluster{Name: "one", Labels: map[string]string{"env": "dev", "x": "1"}}, Cluster{Name: "two", Labels: map[string]string{"env": "dev"}}
	data := func(c *Cluster) map[string]any {
		o, err := matches[0].Render(c)
		if err != nil {
			t.Fatal(err)
		}
		return o.Helm.Values.Data
	}
	if got := data(&one)["a"]; got != "dev" {
		t.Errorf("a is %v", got)
	}
	data(&one)["marked"] = true
	if data(&two)["marked"] == nil {
		t.Error("the same labels were rendered twice")
	}
	if other := data(&fleetClusters[0]); other["marked"] != nil || other["a"] != "prod" {
		t.Errorf("another label was not rendered: %v", other)
	}
	if matches[0].made.values == nil || matches[0].Uses().None() {
		t.Error("templated options pass for static ones")
	}
}

// A cluster whose values are broken is not one without values.
func TestBrokenClusterValuesAreNotShared(t *testing.T) {
	b := bundle(fleet.BundleTarget{ClusterSelector: everything})
	b.Spec.BundleDeploymentOptions = options(t, `{helm: {values: {a: '${ get .ClusterValues "x" | default "none" }'}}}`)
	matches, err := Select(b, nil, fleetClusters[:1])
	if err != nil {
		t.Fatal(err)
	}
	good, bad := Cluster{Name: "good"}, Cluster{Name: "bad", ValuesError: errors.New("broken")}
	if _, err := matches[0].Render(&good); err != nil {
		t.Fatal(err)
	}
	_, err = matches[0].Render(&bad)
	checkError(t, err, "cluster bad: broken")
	if uses := matches[0].Uses(); !uses.Affected(&good, &Cluster{Name: "good", ValuesError: errors.New("broken")}) {
		t.Error("not affected by values that broke")
	}
}

func TestClusterValues(t *testing.T) {
	cases := map[string]struct {
		variables        map[string]string
		annotation, want string
		err              string
	}{
		"none":                   {want: `{}`},
		"variables":              {variables: map[string]string{"a": "1"}, want: `{a: "1"}`},
		"the annotation wins":    {variables: map[string]string{"a": "1", "b": "1"}, annotation: `b: {c: [2]}`, want: `{a: "1", b: {c: [2]}}`},
		"JSON":                   {annotation: `{"a": {"b": true}}`, want: `{a: {b: true}}`},
		"no map":                 {annotation: `[hunter2]`, err: "annotation fleet.open-cluster-management.io/cluster-values is no map"},
		"no YAML":                {annotation: `{hunter2`, err: "annotation fleet.open-cluster-management.io/cluster-values: no valid YAML"},
		"too long":               {annotation: strings.Repeat("x", 64<<10+1), err: "has 65537 bytes: 65536 are allowed"},
		"aliases that explode":   {annotation: "a: &a " + strings.Repeat("x", 60000) + "\nb: [*a, *a]", err: "its aliases make more than 65536 bytes"},
		"aliases that are small": {annotation: "a: &a 1\nb: [*a, *a]", want: `{a: 1, b: [1, 1]}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := maps.Clone(tc.variables)
			got, err := ClusterValues(tc.variables, tc.annotation)
			checkError(t, err, tc.err)
			if tc.err != "" {
				if strings.Contains(err.Error(), "hunter2") || !errors.Is(err, ErrClusterValues) {
					t.Errorf("error %q", err)
				}
				return
			}
			var want map[string]any
			if err := yaml.Unmarshal([]byte(tc.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, tc.variables); diff != "" {
				t.Errorf("the variables were changed:\n%s", diff)
			}
		})
	}
}
