package target

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

func encoded(t *testing.T, text string) string {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(buf.Bytes())
}

// fetched is a bundle with a chart from elsewhere.
func fetched(below, chart, repo, version string) string {
	return "resources: [{name: " + content.ChartDir(chart, repo, version) + "/" + below + "Chart.yaml}]\n"
}

func TestValidate(t *testing.T) {
	const files = "resources: [{name: a.yaml, content: x}]\n"
	const chart = "resources: [{name: c/Chart.yaml, content: x}]\n"
	cases := map[string]struct {
		spec string
		want []string
	}{
		"a plain bundle": {spec: files + "targets: [{clusterName: dev}, {clusterSelector: {}}]"},
		"a chart in a folder": {spec: chart + `helm: {chart: c, releaseName: web, force: true, takeOwnership: true, maxHistory: 3, values: {a: 1}}
namespace: web
deleteCRDResources: true
keepResources: true`},
		"a partition with a selector that is no selector": {
			spec: files + "rolloutStrategy: {partitions: [{clusterName: dev}, {clusterGroupSelector: {matchExpressions: [{key: a, operator: Near}]}}]}",
			want: []string{"spec.rolloutStrategy.partitions[1].clusterGroupSelector.matchExpressions[0].operator: Invalid"},
		},
		"no files":                     {spec: "namespace: web", want: []string{"spec.resources: Required"}},
		"a file without a name":        {spec: "resources: [{content: x}]", want: []string{"spec.resources[0].name: Required"}},
		"a file outside":               {spec: "resources: [{name: ../a.yaml}]", want: []string{"spec.resources[0].name: Invalid"}},
		"the folder above":             {spec: "resources: [{name: ..}]", want: []string{"spec.resources[0].name: Invalid"}},
		"an absolute file":             {spec: "resources: [{name: /a.yaml}]", want: []string{"spec.resources[0].name: Invalid"}},
		"a file with dots inside":      {spec: "resources: [{name: a/../b.yaml}]", want: []string{"spec.resources[0].name: Invalid"}},
		"a backslash":                  {spec: `resources: [{name: 'a\b.yaml'}]`, want: []string{"spec.resources[0].name: Invalid"}},
		"a file twice":                 {spec: "resources: [{name: a.yaml}, {name: b.yaml}, {name: a.yaml}]", want: []string{"spec.resources[2].name: Duplicate"}},
		"an unknown encoding":          {spec: "resources: [{name: a.yaml, encoding: zip}]", want: []string{"spec.resources[0].encoding: Unsupported"}},
		"a compressed file":            {spec: "resources: [{name: a.yaml, encoding: base64+gz, content: " + encoded(t, "x") + "}]"},
		"a file that is not base64":    {spec: "resources: [{name: a.yaml, encoding: base64+gz, content: '???'}]", want: []string{"spec.resources[0].content: Invalid"}},
		"a file that is not gzip":      {spec: "resources: [{name: a.yaml, encoding: base64+gz, content: aGVsbG8gd29ybGQ=}]", want: []string{"spec.resources[0].content: Invalid"}},
		"a kustomization":              {spec: "resources: [{name: x/kustomization.yaml}]\nkustomize: {dir: x}"},
		"overlays that nobody selects": {spec: "resources: [{name: overlays/dev/a.yaml}]"},
		"a chart that was not fetched": {spec: files + "helm: {chart: https://example.com/c.tgz}", want: []string{"spec.helm.chart: Invalid"}},
		"one of a repository":          {spec: files + "helm: {repo: https://example.com, chart: c}", want: []string{"spec.helm.chart: Invalid"}},
		"an OCI chart":                 {spec: files + "helm: {repo: oci://example.com/c}", want: []string{"spec.helm.repo: Invalid"}},
		"a chart folder that is none":  {spec: files + "helm: {chart: c}", want: []string{"spec.helm.chart: Invalid"}},
		"a chart that was fetched":     {spec: fetched("", "https://example.com/c.tgz", "", "") + "helm: {chart: https://example.com/c.tgz}"},
		"one out of an archive":        {spec: fetched("c/", "c", "https://example.com", "1.0.0") + "helm: {repo: https://example.com, chart: c, version: 1.0.0}"},
		"another version": {spec: fetched("", "c", "https://example.com", "1.0.0") + "helm: {repo: https://example.com, chart: c, version: 1.0.0}\n" +
			"targets: [{clusterName: a}, {clusterName: b, helm: {version: 2.0.0}}, {clusterName: c, helm: {atomic: false}}]",
			want: []string{"spec.targets[1].helm.chart: Invalid"}},
		"bad names": {spec: files + "namespace: Web\ndefaultNamespace: a.b\nhelm: {releaseName: " + strings.Repeat("a", 54) + "}",
			want: []string{"spec.namespace: Invalid", "spec.defaultNamespace: Invalid", "spec.helm.releaseName: Too long"}},
		"bad selectors": {
			spec: files + `targets: [{clusterSelector: {matchExpressions: [{key: env, operator: Likes}]}}, {clusterGroupSelector: {matchLabels: {"a b": c}}}]
targetRestrictions: [{clusterSelector: {matchExpressions: [{key: env, operator: In}]}}]`,
			want: []string{"spec.targets[0].clusterSelector.matchExpressions[0].operator: Invalid",
				"spec.targets[1].clusterGroupSelector.matchLabels: Invalid",
				"spec.targetRestrictions[0].clusterSelector.matchExpressions[0].values: Required"}},
		"what the bundle has and this version has not": {
			spec: files + `targetCustomizationMode: Sometimes
dependsOn: [{name: base}]
contentsId: oci
helmOpOptions: {}`,
			want: []string{"spec.targetCustomizationMode: Unsupported", "spec.dependsOn: Forbidden", "spec.contentsId: Forbidden",
				"spec.helmOpOptions: Forbidden"}},
		"values in a Secret": {spec: files + "valuesHash: abc"},
		"options that this version has not": {
			spec: files + `serviceAccount: sa
diff: {comparePatches: [{kind: Job}]}
ignore: {conditions: [{type: A}]}
correctDrift: {enabled: true}
deleteNamespace: true
namespaceLabels: {a: b}
namespaceAnnotations: {a: b}
downstreamResources: [{kind: Secret, name: a}]
overwrites: [{kind: Secret, name: a}]
allowedTargetNamespaceSelector: {}`,
			want: []string{"spec.serviceAccount: Forbidden", "spec.diff: Forbidden",
				"spec.ignore.conditions: Forbidden", "spec.correctDrift.enabled: Forbidden", "spec.deleteNamespace: Forbidden",
				"spec.namespaceLabels: Forbidden", "spec.namespaceAnnotations: Forbidden", "spec.downstreamResources: Forbidden", "spec.overwrites: Forbidden",
				"spec.allowedTargetNamespaceSelector: Forbidden"}},
		"Helm options that this version has not": {
			spec: files + `helm: {valuesFrom: [{secretKeyRef: {name: a}}], timeoutSeconds: 5, atomic: true, waitForJobs: true}`,
			want: []string{"spec.helm.valuesFrom: Forbidden",
				"spec.helm.timeoutSeconds: Forbidden", "spec.helm.atomic: Forbidden", "spec.helm.waitForJobs: Forbidden"}},
		"options of a target": {
			spec: files + "targets: [{clusterName: dev}, {clusterName: stg, serviceAccount: sa, namespaceLabels: {a: b}, helm: {atomic: true}}]",
			want: []string{"spec.targets[1].serviceAccount: Forbidden", "spec.targets[1].namespaceLabels: Forbidden",
				"spec.targets[1].helm.atomic: Forbidden"}},
		"what is made for each cluster": {
			spec: files + `targetCustomizationMode: AllMatches
yaml: {overlays: [dev]}
helm: {valuesFiles: [v.yaml], templateValues: {a: "${ .ClusterName }"}, values: {a: {b: ["x", "${ .ClusterName }"]}, c: global.fleet.clusterLabels.env}}`},
		"templates that cannot be read": {
			spec: files + `helm: {templateValues: {a: "${ now }", b: "${ if"}, values: {a: {b: ["x", "${ nonsense }"]}}}`,
			want: []string{"spec.helm.templateValues[a]: Invalid", "spec.helm.templateValues[b]: Invalid", "spec.helm.values.a.b[1]: Invalid"}},
		"one error of all targets": {
			spec: files + `helm: {values: {a: "${ nonsense }"}}
targets: [{clusterName: dev}, {clusterName: stg}]`,
			want: []string{"spec.helm.values.a: Invalid"}},
		"an error of one target": {
			spec: files + `helm: {values: {a: "${ .ClusterName }"}}
targets: [{clusterName: dev}, {clusterName: stg, helm: {values: {a: "${ nonsense }"}}}]`,
			want: []string{"spec.targets[1].helm.values.a: Invalid"}},
		"an error that every target replaces": {
			spec: files + `helm: {values: {a: "${ nonsense }"}}
targets: [{clusterName: stg, helm: {values: {a: b}}}]`},
		"literal values": {
			spec: files + `helm: {disablePreProcess: true, values: {a: "${HOME}"}}
targets: [{clusterName: dev, helm: {values: {a: "${HOME}"}}}]`},
		"switches that are off": {
			spec: files + "yaml: {}\nkustomize: {}\ncorrectDrift: {force: true}\ndiff: {}\nignore: {}\ntargetCustomizationMode: FirstMatch"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := &fleet.Bundle{}
			if err := yaml.UnmarshalStrict([]byte(tc.spec), &b.Spec); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range Validate(b) {
				got = append(got, e.Field+": "+strings.TrimSuffix(e.Type.String(), " value"))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s\n%v", diff, Validate(b).ToAggregate())
			}
		})
	}
}

// Values may be secret: no error shows one.
func TestValidateShowsNoValue(t *testing.T) {
	b := bundle()
	b.Spec.Helm = &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"password": "s3cret ${ x }"}}}
	b.Spec.Resources = append(b.Spec.Resources, fleet.BundleResource{Name: "s.yaml", Encoding: "base64+gz", Content: "s3cret"})
	errs := Validate(b).ToAggregate()
	if errs == nil || strings.Contains(errs.Error(), "s3cret") {
		t.Errorf("error %v", errs)
	}
}

func TestValidateBoundsTargets(t *testing.T) {
	b := bundle()
	b.Spec.Targets = make([]fleet.BundleTarget, maxTargets-1)
	b.Spec.TargetRestrictions = make([]fleet.BundleTargetRestriction, 1)
	tooMany := func() bool {
		errs := Validate(b)
		return len(errs) == 1 && strings.Contains(errs[0].Error(), "spec.targets: Forbidden: there are 10001 targets")
	}
	if tooMany() {
		t.Error("as many as are allowed are refused")
	}
	b.Spec.TargetRestrictions = append(b.Spec.TargetRestrictions, fleet.BundleTargetRestriction{})
	if !tooMany() {
		t.Errorf("one more is not: %v", Validate(b))
	}
}

func TestValidateBoundsTemplates(t *testing.T) {
	b := bundle()
	large := map[string]any{"all": strings.Repeat("${ .ClusterName } ", 10_000), "broken": "${ nonsense }"}
	b.Spec.Helm = &fleet.HelmOptions{Values: &fleet.GenericMap{Data: large}}
	b.Spec.Targets = make([]fleet.BundleTarget, 2_000)
	for i := range b.Spec.Targets {
		b.Spec.Targets[i].Helm = &fleet.HelmOptions{Version: "1", Values: &fleet.GenericMap{Data: map[string]any{"own": "${ nonsense }"}}}
	}
	done := make(chan string, 1)
	go func() { done <- Validate(b).ToAggregate().Error() }()
	select {
	case said := <-done:
		if want := "spec.helm.values.broken: Invalid"; !strings.Contains(said, want) {
			t.Errorf("errors %q, want one with %q", said, want)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the values of the bundle are looked through for each of its targets")
	}
}
