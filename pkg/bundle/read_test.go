package bundle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func TestTheDirectoryOfTheDocs(t *testing.T) {
	made, err := Read(t.Context(), Request{Root: "testdata/shop", Name: "shop", Namespace: "apps", Commit: "abc", Labels: map[string]string{"team": "web"}})
	if err != nil {
		t.Fatal(err)
	}
	got := []byte{}
	for _, m := range made {
		raw, err := yaml.Marshal(m.Bundle)
		if err != nil {
			t.Fatal(err)
		}
		got = append(append(got, "---\n"...), raw...)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "shop.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestTargets(t *testing.T) {
	q := Request{
		Targets:      []fleet.BundleTarget{{Name: "repo", ClusterGroup: "all"}, {ClusterName: "unnamed"}},
		Restrictions: []fleet.BundleTargetRestriction{{Name: "repo", ClusterGroup: "all"}},
	}
	tests := map[string]struct {
		options          string
		q                Request
		want, restricted []string // NAME GROUP CLUSTER
	}{
		"nobody says anything":                {"", Request{}, []string{"default/default/"}, nil},
		"the request alone":                   {"", q, []string{"repo/all/", "//unnamed"}, []string{"repo/all/"}},
		"targets, customizations, request":    {"targets:\n- clusterGroup: a\ntargetCustomizations:\n- name: b\n  clusterGroup: b\n- clusterGroup: c\n", q, []string{"target000/a/", "b/b/", "target002/c/", "repo/all/", "//unnamed"}, []string{"repo/all/"}},
		"restrictions of the options first":   {"targetRestrictions:\n- clusterGroup: r\n", q, []string{"repo/all/", "//unnamed"}, []string{"/r/", "repo/all/"}},
		"overriding the request":              {"targetCustomizations:\n- clusterGroup: c\noverrideTargets:\n- name: o\n  clusterName: x\n", q, []string{"target000/c/", "o//x"}, []string{"o//x"}},
		"overriding the request with nothing": {"overrideTargets: []\n", q, []string{"default/default/"}, nil},
		"customizations without a request":    {"targetCustomizations:\n- clusterGroup: c\n", Request{}, []string{"target000/c/"}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := tree{"fleet.yaml": tc.options, "a.yaml": manifest}.one(t, tc.q)
			var got, restricted []string
			for _, x := range b.Spec.Targets {
				got = append(got, x.Name+"/"+x.ClusterGroup+"/"+x.ClusterName)
			}
			for _, x := range b.Spec.TargetRestrictions {
				restricted = append(restricted, x.Name+"/"+x.ClusterGroup+"/"+x.ClusterName)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.restricted, restricted); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadTargets(t *testing.T) {
	got, warnings, err := ReadTargets("targets.yaml", []byte("targets:\n- name: a\n  clusterSelector: {matchLabels: {env: dev}}\ntargetRestrictions:\n- name: a\n"), false)
	want := Targets{
		Targets:            []fleet.BundleTarget{{Name: "a", ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"env": "dev"}}}},
		TargetRestrictions: []fleet.BundleTargetRestriction{{Name: "a"}},
	}
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, _, err = ReadTargets("targets.yaml", []byte("targets:\n- clustername: a\n  cluster: b\n"), false)
	wantError(t, err, `targets.yaml:3:3: field "targets[0].cluster" is unknown`)
	_, warnings, err = ReadTargets("targets.yaml", []byte("paused: true\n"), true)
	if err != nil || len(warnings) != 1 {
		t.Error(err, warnings)
	}
	_, _, err = ReadTargets("targets.yaml", make([]byte, MaxOptions+1), false)
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v, want %v", err, ErrTooLarge)
	}
}

func TestWhatTheRequestSays(t *testing.T) {
	drift := &fleet.CorrectDrift{Enabled: true, Force: true}
	full := Request{
		Namespace: "apps", Commit: "abc", Labels: map[string]string{"a": "request", "b": "request"},
		ServiceAccount: "sa", TargetNamespace: "ns", Paused: true, KeepResources: true, DeleteNamespace: true, CorrectDrift: drift, ForceSyncGeneration: 7,
	}
	own := "labels: {b: own, c: own}\nserviceAccount: own\nnamespace: own\nforceSyncGeneration: 3\ncorrectDrift: {enabled: true}\ntargets:\n- name: x\n  namespace: z\n"
	tests := map[string]struct {
		options string
		q       Request
		want    func(*fleet.Bundle)
	}{
		"everything, over the options": {own, full, func(b *fleet.Bundle) {
			b.Namespace = "apps"
			b.Labels = map[string]string{"a": "request", "b": "own", "c": "own", fleet.CommitLabel: "abc"}
			b.Spec.ServiceAccount, b.Spec.TargetNamespace = "sa", "ns"
			b.Spec.Paused, b.Spec.KeepResources, b.Spec.DeleteNamespace = true, true, true
			b.Spec.CorrectDrift, b.Spec.ForceSyncGeneration = drift, 7
			b.Spec.Targets = []fleet.BundleTarget{{Name: "x"}}
			b.Spec.Targets[0].TargetNamespace = "ns"
		}},
		"nothing, and the options stay": {own + "paused: true\nkeepResources: true\ndeleteNamespace: true\nname: own\n", Request{CorrectDrift: &fleet.CorrectDrift{Force: true}}, func(b *fleet.Bundle) {
			b.Name = "own"
			b.Labels = map[string]string{"b": "own", "c": "own"}
			b.Spec.ServiceAccount, b.Spec.TargetNamespace = "own", "own"
			b.Spec.Paused, b.Spec.KeepResources, b.Spec.DeleteNamespace = true, true, true
			b.Spec.CorrectDrift = &fleet.CorrectDrift{Enabled: true}
			b.Spec.Targets = []fleet.BundleTarget{{Name: "x"}}
			b.Spec.Targets[0].TargetNamespace = "z"
		}},
		"a namespace, for the default target too": {"", Request{TargetNamespace: "ns"}, func(b *fleet.Bundle) {
			b.Spec.TargetNamespace = "ns"
			b.Spec.Targets = []fleet.BundleTarget{{Name: "default", ClusterGroup: "default"}}
			b.Spec.Targets[0].TargetNamespace = "ns"
		}},
		"a commit that the options replace": {"labels: {fleet.cattle.io/commit: own}\n", Request{Commit: "abc"}, func(b *fleet.Bundle) {
			b.Labels = map[string]string{fleet.CommitLabel: "own"}
			b.Spec.Targets = []fleet.BundleTarget{{Name: "default", ClusterGroup: "default"}}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := tree{"fleet.yaml": tc.options, "a.yaml": manifest}.one(t, tc.q)
			want := &fleet.Bundle{TypeMeta: metav1.TypeMeta{APIVersion: "fleet.cattle.io/v1alpha1", Kind: "Bundle"}}
			want.Name = "repo"
			want.Spec.Resources = []fleet.BundleResource{{Name: "a.yaml", Content: manifest}}
			tc.want(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if full.Labels[fleet.CommitLabel] != "" {
		t.Error("the labels of the request changed")
	}
}

func TestValues(t *testing.T) {
	files := tree{
		"base.yaml": "a: base\nm: {x: base, v: base}\nl: [1, 2]\n", "over.yaml": "m: {v: over, z: null}\nl: [3]\n", "empty.yaml": "# nothing\n", "Chart.yaml": "name: x\n",
	}
	type m = map[string]any
	tests := map[string]struct {
		options     string
		want, first m
	}{
		"files over values, later ones over earlier ones": {
			"helm:\n  values: {a: own, b: own, m: {x: own, w: own}}\n  valuesFiles: [base.yaml, over.yaml]\n",
			m{"a": "base", "b": "own", "m": m{"w": "own", "x": "base", "v": "over", "z": nil}, "l": []any{3.0}}, nil,
		},
		"no values but files":  {"helm: {valuesFiles: [over.yaml]}\n", m{"m": m{"v": "over", "z": nil}, "l": []any{3.0}}, nil},
		"a file with nothing":  {"helm: {valuesFiles: [empty.yaml]}\n", nil, nil},
		"of a customization":   {"helm: {values: {a: root}}\ntargetCustomizations:\n- name: x\n  helm: {values: {c: own}, valuesFiles: [over.yaml]}\n", m{"a": "root"}, m{"c": "own", "m": m{"v": "over", "z": nil}, "l": []any{3.0}}},
		"with a chart by name": {"helm: {chart: ., valuesFiles: [over.yaml]}\n", m{"m": m{"v": "over", "z": nil}, "l": []any{3.0}}, nil},
	}
	of := func(h *fleet.HelmOptions) m {
		if h == nil || h.Values == nil {
			return nil
		}
		return h.Values.Data
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files["fleet.yaml"] = tc.options
			b := files.one(t, Request{})
			if diff := cmp.Diff(tc.want, of(b.Spec.Helm)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.first, of(b.Spec.Targets[0].Helm)); diff != "" {
				t.Error(diff)
			}
		})
	}
	bad := map[string]struct {
		options string
		want    []string
	}{
		"no such file":          {"helm: {valuesFiles: [base.yaml, nowhere.yaml]}\n", []string{"fleet.yaml:1:33: helm.valuesFiles", "nowhere.yaml"}},
		"a directory":           {"helm: {valuesFiles: [.]}\n", []string{"fleet.yaml:1:22", "directory"}},
		"one name for two":      {"targets:\n- {name: x, helm: {valuesFiles: [base.yaml]}}\n- {name: x, helm: {valuesFiles: [over.yaml]}}\n", []string{"spec.targets[1].helm.values", `"x"`}},
		"a file that is no map": {"helm: {valuesFiles: [list.yaml]}\n", []string{"list.yaml:1:1"}},
		"a key twice":           {"helm: {valuesFiles: [twice.yaml]}\n", []string{`twice.yaml:3:1: key "a"`}},
	}
	files["list.yaml"], files["twice.yaml"] = "- hunter2\n", "a: hunter2\nb: 1\na: 2\n"
	for name, tc := range bad {
		t.Run(name, func(t *testing.T) {
			files["fleet.yaml"] = tc.options
			_, err := files.read(t, Request{})
			wantError(t, err, tc.want...)
		})
	}
}

func TestReadStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Read(ctx, Request{Root: tree{"a.yaml": manifest}.write(t)})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	_, err = Read(t.Context(), Request{Root: filepath.Join(t.TempDir(), "nowhere")})
	wantError(t, err, "nowhere")
}

// BenchmarkRead50 reads 50 bundles of a chart, 20 manifests and values for three groups of
// clusters each.
func BenchmarkRead50(b *testing.B) {
	files := tree{}
	for i := range 50 {
		dir := fmt.Sprintf("apps/app%02d/", i)
		files[dir+"fleet.yaml"] = "helm:\n  valuesFiles: [values/base.yaml]\ntargetCustomizations:\n- name: dev\n  helm: {valuesFiles: [values/dev.yaml]}\n- name: prod\n  helm: {valuesFiles: [values/prod.yaml]}\n"
		files[dir+"Chart.yaml"] = "name: app\nversion: 1.0.0\n"
		for _, v := range []string{"base", "dev", "prod"} {
			files[dir+"values/"+v+".yaml"] = "replicas: 1\nimage: {tag: " + v + "}\n"
		}
		for j := range 20 {
			files[dir+fmt.Sprintf("templates/%02d.yaml", j)] = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  a: b\n"
		}
	}
	root := files.write(b)
	for b.Loop() {
		made, err := Read(b.Context(), Request{Root: root, Name: "repo", Paths: []string{"apps"}})
		if err != nil || len(made) != 50 {
			b.Fatalf("%d bundles, error %v", len(made), err)
		}
	}
}
