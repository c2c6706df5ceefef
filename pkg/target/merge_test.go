package target

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"sigs.k8s.io/yaml"
)

func options(t testing.TB, text string) fleet.BundleDeploymentOptions {
	t.Helper()
	var o fleet.BundleDeploymentOptions
	if err := yaml.UnmarshalStrict([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestMerge(t *testing.T) {
	cases := map[string]struct{ base, custom, want string }{
		"nothing over something": {base: `{namespace: a, helm: {chart: x}}`, custom: `{}`, want: `{namespace: a, helm: {chart: x}}`},
		"strings: non-empty ones win": {
			base:   `{namespace: a, defaultNamespace: b, serviceAccount: c, helm: {chart: x, repo: r, version: "1", releaseName: n}}`,
			custom: `{namespace: A, serviceAccount: C, helm: {version: "2", releaseName: N}}`,
			want:   `{namespace: A, defaultNamespace: b, serviceAccount: C, helm: {chart: x, repo: r, version: "2", releaseName: N}}`},
		"switches: on in either is on": {
			base:   `{keepResources: true, helm: {force: true, waitForJobs: true, disableDNS: true, skipSchemaValidation: true}}`,
			custom: `{deleteNamespace: true, deleteCRDResources: true, helm: {atomic: true, takeOwnership: true, disablePreProcess: true, disableDependencyUpdate: true}}`,
			want: `{keepResources: true, deleteNamespace: true, deleteCRDResources: true, helm: {force: true, waitForJobs: true, disableDNS: true,
				skipSchemaValidation: true, atomic: true, takeOwnership: true, disablePreProcess: true, disableDependencyUpdate: true}}`},
		"numbers: set ones win": {
			base: `{forceSyncGeneration: 4, helm: {timeoutSeconds: 30, maxHistory: 3}}`, custom: `{helm: {timeoutSeconds: 60, maxHistory: 5}}`,
			want: `{forceSyncGeneration: 4, helm: {timeoutSeconds: 60, maxHistory: 5}}`},
		"a negative timeout is none": {base: `{helm: {timeoutSeconds: 30}}`, custom: `{helm: {timeoutSeconds: -1}}`, want: `{helm: {}}`},
		"values: deep, lists replaced, null kept": {
			base:   `{helm: {values: {image: {tag: a, pull: always}, ports: [1, 2], off: 1, leaf: {x: 1}}}}`,
			custom: `{helm: {values: {image: {tag: b}, ports: [3], off: null, leaf: 7, more: true}}}`,
			want:   `{helm: {values: {image: {tag: b, pull: always}, ports: [3], off: null, leaf: 7, more: true}}}`},
		"values over none": {base: `{helm: {chart: x}}`, custom: `{helm: {values: {a: 1}}}`, want: `{helm: {chart: x, values: {a: 1}}}`},
		"maps by key": {
			base:   `{namespaceLabels: {a: "1", b: "1"}, namespaceAnnotations: {x: "1"}, helm: {templateValues: {t: "1", u: "1"}}}`,
			custom: `{namespaceLabels: {b: "2", c: "2"}, namespaceAnnotations: {x: "2"}, helm: {templateValues: {u: "2"}}}`,
			want:   `{namespaceLabels: {a: "1", b: "2", c: "2"}, namespaceAnnotations: {x: "2"}, helm: {templateValues: {t: "1", u: "2"}}}`},
		"lists with keys": {
			base: `{downstreamResources: [{kind: Secret, name: a}], overwrites: [{kind: Secret, name: a}],
				helm: {valuesFrom: [{secretKeyRef: {name: a, key: k}}, {configMapKeyRef: {name: b}}]},
				diff: {comparePatches: [{kind: Job, name: a, jsonPointers: [/x]}, {kind: Job, name: b}]}}`,
			custom: `{downstreamResources: [{kind: ConfigMap, name: a}, {kind: secret, name: a}], overwrites: [{kind: Secret, name: b}],
				helm: {valuesFrom: [{configMapKeyRef: {name: b}}, {secretKeyRef: {name: c}}]},
				diff: {comparePatches: [{kind: Job, name: a, jsonPointers: [/y]}]}}`,
			want: `{downstreamResources: [{kind: secret, name: a}, {kind: ConfigMap, name: a}], overwrites: [{kind: Secret, name: a}, {kind: Secret, name: b}],
				helm: {valuesFrom: [{secretKeyRef: {name: a, key: k}}, {configMapKeyRef: {name: b}}, {secretKeyRef: {name: c}}]},
				diff: {comparePatches: [{kind: Job, name: a, jsonPointers: [/y]}, {kind: Job, name: b}]}}`},
		"what values come from, by its first reference": {
			base:   `{helm: {valuesFrom: [{configMapKeyRef: {name: a}}, {secretKeyRef: {name: b, namespace: x}}]}}`,
			custom: `{helm: {valuesFrom: [{configMapKeyRef: {name: a}, secretKeyRef: {name: c}}, {secretKeyRef: {name: b, namespace: y}}]}}`,
			want:   `{helm: {valuesFrom: [{configMapKeyRef: {name: a}, secretKeyRef: {name: c}}, {secretKeyRef: {name: b, namespace: x}}, {secretKeyRef: {name: b, namespace: y}}]}}`},
		"lists without keys are joined": {
			base:   `{yaml: {overlays: [a]}, ignore: {conditions: [{type: A}]}, helm: {valuesFiles: [a]}}`,
			custom: `{yaml: {overlays: [b]}, ignore: {conditions: [{type: B}]}, helm: {valuesFiles: [b]}}`,
			want:   `{yaml: {overlays: [a, b]}, ignore: {conditions: [{type: A}, {type: B}]}, helm: {valuesFiles: [a, b]}}`},
		"whole things": {
			base: `{kustomize: {dir: a}, correctDrift: {enabled: true, force: true}}`, custom: `{kustomize: {dir: b}, correctDrift: {enabled: false}}`,
			want: `{kustomize: {dir: b}, correctDrift: {}}`},
		"a limit on namespaces is not loosened": {
			base:   `{allowedTargetNamespaceSelector: {matchLabels: {a: "1"}}}`,
			custom: `{allowedTargetNamespaceSelector: {}}`,
			want:   `{allowedTargetNamespaceSelector: {matchLabels: {a: "1"}}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			base, custom := options(t, tc.base), options(t, tc.custom)
			got := merge(base, custom)
			if diff := cmp.Diff(options(t, tc.want), got); diff != "" {
				t.Errorf("merged (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(options(t, tc.base), base); diff != "" {
				t.Errorf("base was changed (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(options(t, tc.custom), custom); diff != "" {
				t.Errorf("custom was changed (-want +got):\n%s", diff)
			}
		})
	}
}

// Fleet drops nine options when it merges. Here each field that custom sets has
// to be seen in the result, also those that a later API version adds.
func TestMergeLosesNoField(t *testing.T) {
	full := map[string]any{}
	fill(reflect.TypeFor[fleet.BundleDeploymentOptions](), full)
	var custom fleet.BundleDeploymentOptions
	data, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(data, &custom); err != nil {
		t.Fatal(err)
	}
	for name, base := range map[string]fleet.BundleDeploymentOptions{
		"over nothing": {}, "over an empty helm": {Helm: &fleet.HelmOptions{}, Diff: &fleet.DiffOptions{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(custom, merge(base, custom)); diff != "" {
				t.Errorf("lost (-want +got):\n%s", diff)
			}
		})
	}
}

// fill sets every JSON field of a struct type to something that is not zero.
func fill(t reflect.Type, into map[string]any) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			fill(f.Type, into)
			continue
		}
		into[jsonName(f)] = example(f.Type)
	}
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func example(t reflect.Type) any {
	switch t.Kind() {
	case reflect.Pointer:
		return example(t.Elem())
	case reflect.String:
		return "x"
	case reflect.Bool:
		return true
	case reflect.Int, reflect.Int64:
		return 7
	case reflect.Slice:
		return []any{example(t.Elem())}
	case reflect.Map:
		return map[string]any{"k": example(t.Elem())}
	case reflect.Struct:
		if t == reflect.TypeFor[fleet.GenericMap]() {
			return map[string]any{"k": "v"}
		}
		out := map[string]any{}
		fill(t, out)
		return out
	default:
		panic("no example for " + t.String())
	}
}

// Fleet puts the namespace labels of all targets on all clusters.
func TestOptionsDoNotLeakBetweenTargets(t *testing.T) {
	b := bundle(
		fleet.BundleTarget{ClusterName: "dev", NamespaceLabels: map[string]string{"env": "dev"},
			BundleDeploymentOptions: options(t, `{helm: {values: {image: {tag: dev}}}}`)},
		fleet.BundleTarget{ClusterName: "prod", NamespaceAnnotations: map[string]string{"env": "prod"}})
	b.Spec.BundleDeploymentOptions = options(t, `{namespaceLabels: {all: "yes"}, helm: {values: {image: {tag: base}}}}`)
	matches, err := Select(b, nil, fleetClusters)
	if err != nil {
		t.Fatal(err)
	}
	want := []Match{
		{Cluster: "dev", Target: "target000", Rule: "0", Options: options(t, `{namespaceLabels: {all: "yes", env: dev}, helm: {values: {image: {tag: dev}}}}`)},
		{Cluster: "prod", Target: "target001", Rule: "1", Options: options(t, `{namespaceLabels: {all: "yes"}, namespaceAnnotations: {env: prod}, helm: {values: {image: {tag: base}}}}`)},
	}
	if diff := cmp.Diff(want, matches, cmpopts.IgnoreUnexported(Match{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
