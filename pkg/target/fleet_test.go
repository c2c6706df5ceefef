package target

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	texttemplate "text/template"

	"github.com/Masterminds/sprig/v3"
	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// likeFleet fills values in the plain way: labels first, then all values as one template.
func likeFleet(data map[string]any, c *Cluster) (map[string]any, error) {
	labelled, _ := withLabels(data, c).(map[string]any)
	source, err := yaml.Marshal(labelled)
	if err != nil {
		return nil, err
	}
	t, err := texttemplate.New("").Funcs(sprig.TxtFuncMap()).Option("missingkey=error").Delims("${", "}").Parse(string(source))
	if err != nil {
		return nil, err
	}
	all := Keys{Any: true}
	var out bytes.Buffer
	if err := t.Execute(&out, map[string]any{
		"ClusterName": c.Name, "ClusterNamespace": "apps", "ClusterLabels": dict(c.Labels, all), "ClusterAnnotations": dict(c.Annotations, all),
		"ClusterValues": (&fleet.GenericMap{Data: c.Values}).DeepCopy().Data,
	}); err != nil {
		return nil, err
	}
	var rendered map[string]any
	err = yaml.Unmarshal(out.Bytes(), &rendered)
	return rendered, err
}

// Rendering only what is templated gives what rendering everything gives.
func TestRenderIsWhatFleetMakes(t *testing.T) {
	leaf := rapid.SampledFrom([]any{
		"plain", "true", "007", "a: b", "- x", "", " padded ", "two\nlines\n", "'quoted'", `"double"`, "#no comment", "*star", "&anchor", "{}", "~", "1e6",
		1.5, float64(1000000), float64(3), true, nil, "$HOME", "}", "$ {",
		"global.fleet.clusterLabels.env", "global.fleet.clusterLabels.number", "global.fleet.clusterLabels.no",
		"${ .ClusterName }", "x-${ .ClusterLabels.env }-y", "${ .ClusterLabels.number }", "${ .ClusterLabels.number | quote }", "${ .ClusterLabels.no }",
		"${ list 1 2 | toJson }", `${ dict "a" .ClusterName | toJson }`, "${- .ClusterName -}", "${ .ClusterAnnotations.note }", "${ `a\nb` }",
		`${ if eq .ClusterLabels.env "dev" }yes${ else }no${ end }`, "${ range .ClusterValues.items }\n- ${ . }\n${ end }", "${/* nothing */}",
		"${ $x := .ClusterName }", "${ $x }", "${ if true }", "${ end }", "${ .ClusterValues.nested.a.b }", "1\n${ .ClusterName }\n2",
	})
	key := rapid.SampledFrom([]string{"a", "b", "c", "d", "true", "k_${ .ClusterLabels.env }", "1"})
	var value func(t *rapid.T, depth int) any
	value = func(t *rapid.T, depth int) any {
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		switch {
		case depth > 0 && kind == 0:
			out := map[string]any{}
			for range rapid.IntRange(0, 3).Draw(t, "entries") {
				out[key.Draw(t, "key")] = value(t, depth-1)
			}
			return out
		case depth > 0 && kind == 1:
			out := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "elements") {
				out = append(out, value(t, depth-1))
			}
			return out
		default:
			return leaf.Draw(t, "leaf")
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		data := map[string]any{}
		for range rapid.IntRange(0, 5).Draw(t, "keys") {
			data[key.Draw(t, "key")] = value(t, 2)
		}
		c := edge()
		want, wantErr := likeFleet(data, c)
		o, err := Render("apps", fleet.BundleDeploymentOptions{Helm: &fleet.HelmOptions{Values: &fleet.GenericMap{Data: data}}}, c)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%v\nerror %v, plain %v", data, err, wantErr)
		}
		if err != nil {
			return
		}
		if want == nil {
			want = map[string]any{}
		}
		if diff := cmp.Diff(want, o.Helm.Values.Data); diff != "" {
			t.Fatalf("%v (-plain +got):\n%s", data, diff)
		}
		again, err := Render("apps", fleet.BundleDeploymentOptions{Helm: &fleet.HelmOptions{Values: &fleet.GenericMap{Data: data}}}, c)
		if err != nil || fmt.Sprintf("%#v", again.Helm.Values.Data) != fmt.Sprintf("%#v", o.Helm.Values.Data) {
			t.Fatalf("something else at the second look: %v", err)
		}
	})
}

// What a template looks at is all that it depends on: another cluster with the same of
// that gets the same.
func TestWhatUsesLeavesOutDoesNotMatter(t *testing.T) {
	texts := []string{
		"${ .ClusterName }", "${ .ClusterLabels.env }", `${ index .ClusterLabels "zone" }`, `${ hasKey .ClusterLabels "zone" }`,
		"${ with .ClusterLabels }${ .env }${ end }", "${ range $k, $v := .ClusterLabels }${ $k }${ end }", "${ $.ClusterLabels.env }",
		"${ . | toJson }", "${ with . }${ .ClusterName }${ end }", `${ define "t" }${ .env }${ end }${ template "t" .ClusterLabels }`,
		`${ define "t" }${ .ClusterLabels.env }${ end }${ template "t" . }`, "${ .ClusterValues.top }", "${ (.ClusterValues).top }",
		`${ get .ClusterValues "top" }`, "${ .ClusterAnnotations.note | quote }", `${ index .ClusterClaims "id" }`, "${ $l := .ClusterLabels }${ $l.env }",
		"${ if .ClusterLabels.env }x${ end }", `${ dig "env" "none" .ClusterLabels }`, "static ${ 1 }", "global.fleet.clusterLabels.zone",
		"${ range until 2 }${ $.ClusterName }${ end }", `${ block "b" .ClusterLabels }${ .env }${ end }`, `${ .ClusterLabels.env | printf "%s" }`,
	}
	change := map[string]func(c *Cluster){
		"name": func(c *Cluster) { c.Name = "other" }, "env": func(c *Cluster) { c.Labels["env"] = "x" }, "no zone": func(c *Cluster) { delete(c.Labels, "zone") },
		"new label": func(c *Cluster) { c.Labels["new"] = "x" }, "note": func(c *Cluster) { c.Annotations["note"] = "x" },
		"claim": func(c *Cluster) { c.Claims["id"] = "x" }, "top": func(c *Cluster) { c.Values["top"] = "x" }, "nested": func(c *Cluster) { c.Values["nested"] = "x" },
	}
	for _, text := range texts {
		o := fleet.BundleDeploymentOptions{Helm: &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"a": text}}}}
		b := bundle(fleet.BundleTarget{ClusterName: "edge1"})
		b.Spec.BundleDeploymentOptions = o
		uses := usesOf(b, nil)
		before, err := Render("apps", o, edge())
		if err != nil {
			t.Fatal(text, err)
		}
		for name, do := range change {
			c := edge()
			do(c)
			after, err := Render("apps", o, c)
			same := err == nil && cmp.Equal(before, after)
			if affected := uses.Affected(edge(), c); !same && !affected {
				t.Errorf("%s: a change of %s gives something else, and %+v does not say so", text, name, uses)
			}
			if uses.Fingerprint(edge()) == uses.Fingerprint(c) && !same {
				t.Errorf("%s: a change of %s has the same fingerprint", text, name)
			}
		}
		if strings.Contains(text, "ClusterLabels.env") && !strings.Contains(text, "define") && uses.Labels.Any {
			t.Errorf("%s: uses any label", text)
		}
	}
}
