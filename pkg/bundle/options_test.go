package bundle

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWhatIsWrongInOptions(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string
	}{
		"an unknown field":                      {"namespace: x\nnamspace: y\n", []string{`fleet.yaml:2:1: field "namspace" is unknown; did you mean "namespace"?`}},
		"one that is like no other":             {"zzzzzzz: 1\n", []string{`fleet.yaml:1:1: field "zzzzzzz" is unknown`}},
		"one deep inside":                       {"helm:\n  takeOwnrship: true\n", []string{`fleet.yaml:2:3: field "helm.takeOwnrship"`, `"takeOwnership"`}},
		"one in a list":                         {"targetCustomizations:\n- name: x\n  clusterSelecter: {}\n", []string{`fleet.yaml:3:3: field "targetCustomizations[0].clusterSelecter"`, `"clusterSelector"`}},
		"one in a selector":                     {"targets:\n- clusterSelector:\n    matchLabel: {a: b}\n", []string{"fleet.yaml:3:5", `"matchLabels"`}},
		"all of several":                        {"a1: 1\nb1: 2\n", []string{`:1:1: field "a1"`, `:2:1: field "b1"`}},
		"what only we may set":                  {"resources:\n- name: x\n", []string{`field "resources" is unknown`}},
		"content that is elsewhere":             {"contentsId: s-1\n", []string{`field "contentsId" is unknown`}},
		"a key that stands twice":               {"namespace: x\nlabels: {}\nnamespace: y\n", []string{`fleet.yaml:3:1: key "namespace" stands a second time, first in line 1`}},
		"a key that stands twice in the values": {"helm:\n  values:\n    a: 1\n    a: 2\n", []string{`fleet.yaml:4:5: key "a" stands a second time`}},
		"a key twice in other capitals":         {"namespace: x\nNamespace: y\n", []string{`fleet.yaml:2:1: keys "namespace" and "Namespace" are one field`}},
		"no YAML":                               {"a: [\n", []string{"fleet.yaml: it is no YAML", "line"}},
		"a list":                                {"- a\n", []string{"fleet.yaml:1:1: the file must be a map"}},
		"a text for a map":                      {"helm: x\n", []string{`fleet.yaml:1:7: field "helm" must be a map`}},
		"a text for values":                     {"helm:\n  values: x\n", []string{`fleet.yaml:2:11: field "helm.values" must be a map`}},
		"a map for a list":                      {"targets: {}\n", []string{`fleet.yaml:1:10: field "targets" must be a list`}},
		"a map for a text":                      {"namespace: {}\n", []string{`fleet.yaml:1:12: field "namespace" must be a text`}},
		"a text for true":                       {"keepResources: perhaps\n", []string{`fleet.yaml:1:16: field "keepResources" must be true or false`}},
		"a text for a number":                   {"helm:\n  timeoutSeconds: soon\n", []string{`fleet.yaml:2:19: field "helm.timeoutSeconds" must be a number`}},
		"a map for a number or text":            {"rolloutStrategy:\n  maxUnavailable: {}\n", []string{`fleet.yaml:2:19: field "rolloutStrategy.maxUnavailable"`}},
		"a number for a text":                   {"helm:\n  version: 1.25\n", []string{`fleet.yaml:2:12: field "helm.version" must be a text; put it in quotes`}},
		"a word that means true":                {"targets:\n- namespace: y\n", []string{`fleet.yaml:2:14: field "targets[0].namespace" must be a text; put it in quotes`}},
		"a second document":                     {"namespace: x\n---\nnamespace: y\n", []string{"fleet.yaml:3:1: a second document"}},
		"a name that no Bundle can have":        {"name: Not/A_Name\n", []string{`fleet.yaml:1:7: name "Not/A_Name"`}},
		"a dependency on nothing":               {"dependsOn:\n- name: a\n- acceptedStates: [Ready]\n", []string{"fleet.yaml:3:3: dependsOn[1] names no bundle"}},
		"a state that is none":                  {"dependsOn:\n- name: a\n  acceptedStates: [Ready, Fine]\n", []string{`fleet.yaml:3:27: dependsOn[0].acceptedStates[1] is "Fine"`, "Ready, NotReady, Pending, OutOfSync, Modified, WaitApplied, ErrApplied"}},
		"image scans":                           {"imageScans:\n- image: x\n", []string{"fleet.yaml:2:1: imageScans is not supported"}},
		"a merged map with an unknown field":    {"helm: &h\n  chart: x\ntargets:\n- helm:\n    <<: *h\n- <<: {foo: bar}\n", []string{`fleet.yaml:6:8: field "targets[1].foo"`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := readOptions("fleet.yaml", []byte(tc.text), false)
			wantError(t, err, tc.want...)
		})
	}
}

func TestOptionsThatAreTaken(t *testing.T) {
	tests := map[string]struct {
		text string
		want func(*options)
	}{
		"nothing":                         {"", func(*options) {}},
		"comments alone":                  {"# a comment\n", func(*options) {}},
		"null":                            {"---\n...\n", func(*options) {}},
		"fields without values":           {"helm:\ntargets:\nlabels:\n", func(*options) {}},
		"a number where a text is needed": {"labels: {a: 1.25, b: yes}\nname: 12\n", func(o *options) { o.Labels, o.Name = map[string]string{"a": "1.25", "b": "true"}, "12" }},
		"yes for true":                    {"keepResources: yes\n", func(o *options) { o.KeepResources = true }},
		"other capitals":                  {"defaultnamespace: x\n", func(o *options) { o.DefaultNamespace = "x" }},
		"annotations, which Fleet knows":  {"annotations: {a: b}\n", func(o *options) { o.Annotations = map[string]string{"a": "b"} }},
		"image scans of nothing":          {"imageScans: []\n", func(o *options) { o.ImageScans = []fleet.ImageScanYAML{} }},
		"a document that ends":            {"name: x\n---\n", func(o *options) { o.Name = "x" }},
		"a key of a merged map once more": {"labels:\n  <<: {a: b, c: d}\n  a: e\n", func(o *options) { o.Labels = map[string]string{"a": "e", "c": "d"} }},
		"a dependency on labels":          {"dependsOn:\n- selector: {}\n", func(o *options) { o.DependsOn = []fleet.BundleRef{{Selector: &metav1.LabelSelector{}}} }},
		"JSON":                            {`{"name": "x"}`, func(o *options) { o.Name = "x" }},
		"values that Helm decides on": {"helm:\n  values:\n    resources: {a: [yes, 1]}\n", func(o *options) {
			o.Helm = withValues(map[string]any{"resources": map[string]any{"a": []any{true, 1.0}}})
		}},
		"a key of values that is a number": {"helm:\n  values:\n    80: web\n", func(o *options) { o.Helm = withValues(map[string]any{"80": "web"}) }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := readOptions("fleet.yaml", []byte(tc.text), false)
			if err != nil {
				t.Fatal(err)
			}
			want := options{}
			tc.want(&want)
			if diff := cmp.Diff(want.FleetYAML, got.FleetYAML); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(want.Annotations, got.Annotations); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func withValues(v map[string]any) *fleet.HelmOptions {
	return &fleet.HelmOptions{Values: &fleet.GenericMap{Data: v}}
}

func TestLenientMakesWarnings(t *testing.T) {
	text := "namspace: x\ncontentsId: s-1\nimageScans:\n- image: x\n---\nnamespace: y\n"
	made, err := tree{"a/fleet.yaml": text, "a/x.yaml": manifest}.read(t, Request{Lenient: true, Paths: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`a/fleet.yaml:1:1: field "namspace" is unknown; did you mean "namespace"? (ignored)`,
		`a/fleet.yaml:2:1: field "contentsId" is unknown (ignored)`,
		"a/fleet.yaml:6:1: a second document begins here, and only the first one counts (ignored)",
		"a/fleet.yaml:4:1: imageScans is not supported; remove it, and let a tool of the repository update its images (ignored)",
	}
	if diff := cmp.Diff(want, made[0].Warnings); diff != "" {
		t.Error(diff)
	}
	if spec := made[0].Bundle.Spec; spec.ContentsID != "" || spec.TargetNamespace != "" {
		t.Errorf("contentsId %q and namespace %q", spec.ContentsID, spec.TargetNamespace)
	}
	for _, text := range []string{"a: 1\na: 2\n", "helm: x\n", "dependsOn: [{}]\n"} {
		if _, err := readOptions("fleet.yaml", []byte(text), true); err == nil {
			t.Errorf("no error for %q", text)
		}
	}
}

// A line of aliases to a line of aliases, and so on, is small until it is followed.
func TestBombsAreRefused(t *testing.T) {
	laughs := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 9; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 8), i-1)
	}
	tests := map[string]string{
		"many values by aliases":   laughs,
		"much text by aliases":     "a: &a " + strings.Repeat("x", 500_000) + "\nb: [" + strings.Repeat("*a,", 20) + "*a]\n",
		"lists in lists":           "a: " + strings.Repeat("[", 500) + strings.Repeat("]", 500) + "\n",
		"an alias within its list": "a: &a [*a]\n",
		"many values":              "a: [" + strings.Repeat("1,", maxNodes) + "1]\n",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			for _, in := range []string{text, "helm:\n  values:\n    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") + "\n"} {
				if _, err := readOptions("fleet.yaml", []byte(in), true); !errors.Is(err, ErrTooLarge) {
					t.Errorf("error %v, want %v", err, ErrTooLarge)
				}
			}
		})
	}
	_, err := tree{"fleet.yaml": strings.Repeat("#", MaxOptions+1), "x.yaml": manifest}.read(t, Request{})
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v, want %v", err, ErrTooLarge)
	}
}

func FuzzOptions(f *testing.F) {
	for _, seed := range []string{
		"", "name: x\n", "helm:\n  values: {a: &a [1], b: *a}\n", "a: &a [*a]\n", "targets:\n- <<: {name: x}\n- <<: [{name: x}]\n",
		"? [a]\n: b\n", "helm: {timeoutSeconds: 1e3, values: {1: 2}}\n", "labels: {<<: x}\n", "---\n---\n", "!!binary x: y\n", "rolloutStrategy: {maxUnavailable: 50%}\n",
		"imageScans: [{interval: 5m}]\n", "\x00", "name: !!int x\n", "dependsOn: [null]\n", "targets: [null]\n", "helm: {valuesFiles: [null]}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > MaxOptions {
			return
		}
		for _, lenient := range []bool{false, true} {
			o, err := readOptions("fleet.yaml", data, lenient)
			if err != nil {
				continue
			}
			if len(o.Resources) > 0 || o.ContentsID != "" || o.ValuesHash != "" || o.HelmOpOptions != nil {
				t.Error("options say what the bundle holds")
			}
			customize(&o.BundleSpec, o.TargetCustomizations)
			o.charts(".", func(i int) []any { return []any{"targets", i} })
		}
	})
}
