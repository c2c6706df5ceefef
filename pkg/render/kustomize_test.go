package render

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

// kustomized sets the directory of a kustomization.
func (in Input) kustomized(dir string) Input {
	in.Options.Kustomize = &fleet.KustomizeOptions{Dir: dir}
	return in
}

func TestKustomizeErrors(t *testing.T) {
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: [secret-value]\n"
	tests := map[string]struct {
		in   Input
		want string
	}{
		"no kustomization where the option says": {
			input("kustomization.yaml", "namePrefix: a-").kustomized("prod"), "kustomize.dir: the bundle has no file prod/kustomization.yaml",
		},
		"two kustomizations": {
			input("kustomization.yaml", "resources: [a.yaml]", "Kustomization", "namePrefix: a-"), "both kustomization.yaml and Kustomization are there",
		},
		"an unknown field": {input("kustomization.yaml", "resource: [a.yaml]"), "kustomization.yaml: "},
		"a file that is not there": {
			input("x/kustomization.yaml", "resources: [a.yaml]").kustomized("x"), "x/kustomization.yaml: resources: the bundle has no file and no directory x/a.yaml",
		},
		"a directory without kustomization": {
			input("kustomization.yaml", "resources: [base]", "base/a.yaml", configMap), "kustomization.yaml: base has no kustomization.yaml",
		},
		"a kustomization of itself": {
			input("a/kustomization.yaml", "resources: [../b]", "b/kustomization.yaml", "resources: [../a]").kustomized("a"), "a needs itself",
		},
		"a file beside its directory": {
			input("x/kustomization.yaml", "resources: [../a.yaml]", "a.yaml", configMap).kustomized("x"), "a.yaml is not below the directory",
		},
		"a file outside of the bundle": {
			input("kustomization.yaml", "configMapGenerator: [{name: a, files: [../../etc/passwd]}]"), "files: the bundle has no file ../../etc/passwd",
		},
		"an absolute path": {
			input("kustomization.yaml", "patches: [{path: /etc/passwd}]"), "patches.path: the bundle has no file etc/passwd",
		},
		"Helm": {input("kustomization.yaml", "helmCharts: [{name: web, repo: https://charts.example}]"), "helmCharts: Kustomize is not let run Helm"},
		"a plugin": {
			input("kustomization.yaml", "transformers: [t.yaml]\nresources: [a.yaml]", "a.yaml", configMap,
				"t.yaml", "apiVersion: plugins.example/v1\nkind: Run\nmetadata: {name: x, annotations: {config.kubernetes.io/function: 'exec: {path: /bin/true}'}}"),
			"external plugins disabled",
		},
		"plugins in a directory": {
			input("kustomization.yaml", "transformers: [t]", "t/kustomization.yaml", "resources: [t.yaml]"), "transformers: the bundle has no file t",
		},
		"what a kustomization makes that is no object": {
			input("kustomization.yaml", "resources: [a.yaml]\npatches: [{target: {kind: ConfigMap}, patch: '- {op: remove, path: /kind}'}]", "a.yaml", configMap), "kind",
		},
		"a file that Kustomize would quote": {
			input("kustomization.yaml", "resources: [a.yaml]\nnamePrefix: x-\nconfigurations: [c.yaml]", "a.yaml", secret, "c.yaml", "namePrefix: [{path: stringData/x}]"), "",
		},
		"a literal without value": {input("kustomization.yaml", "secretGenerator: [{name: a, literals: [secret-value]}]"), "literal source ***"},
		"a file of variables that is none": {
			input("kustomization.yaml", "secretGenerator: [{name: a, envs: [a.env]}]", "a.env", "secret-value=\xff\n"), "invalid utf8 bytes ***",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := rendered(t, tc.in)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !errors.Is(err, ErrInvalid) {
				t.Fatalf("error %v, want %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "secret-value") {
				t.Errorf("the error quotes the file: %v", err)
			}
		})
	}
}

// TestNothingIsFetched has a server that would answer.
func TestNothingIsFetched(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		fmt.Fprint(w, configMap)
	}))
	defer server.Close()
	const patch = "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: p}\ntarget: {kind: ConfigMap}\n"
	url := server.URL + "/a.yaml"
	tests := map[string][]string{
		"a resource":                   {"kustomization.yaml", "resources: [" + url + "]"},
		"a resource of a base":         {"kustomization.yaml", "resources: [base]", "base/kustomization.yaml", "resources: [" + url + "]"},
		"a base, by its old name":      {"kustomization.yaml", "bases: ['git::" + url + "']"},
		"a repository":                 {"kustomization.yaml", "resources: ['github.com/org/repo?ref=v1']"},
		"a repository in a directory":  {"kustomization.yaml", "resources: ['github.com/org/repo']", "github.com/org/repo/kustomization.yaml", "namePrefix: a-"},
		"a repository over SSH":        {"kustomization.yaml", "resources: ['git@git.example:org/repo']"},
		"a repository in a file":       {"kustomization.yaml", "resources: ['file:///tmp/repo']"},
		"a component":                  {"kustomization.yaml", "components: ['ssh://git.example/org/repo']"},
		"a component over HTTP":        {"kustomization.yaml", "components: ['" + server.URL + "/org/repo']"},
		"a patch":                      {"kustomization.yaml", "resources: [a.yaml]\npatches: [{path: '" + url + "'}]", "a.yaml", configMap},
		"a patch, by its old name":     {"kustomization.yaml", "resources: [a.yaml]\npatchesStrategicMerge: ['" + url + "']", "a.yaml", configMap},
		"a JSON patch":                 {"kustomization.yaml", "resources: [a.yaml]\npatchesJson6902: [{target: {kind: ConfigMap}, path: '" + url + "'}]", "a.yaml", configMap},
		"a replacement":                {"kustomization.yaml", "resources: [a.yaml]\nreplacements: [{path: '" + url + "'}]", "a.yaml", configMap},
		"a file of a ConfigMap":        {"kustomization.yaml", "configMapGenerator: [{name: a, files: ['k=" + url + "']}]"},
		"a file of a Secret":           {"kustomization.yaml", "secretGenerator: [{name: a, envs: ['" + url + "']}]"},
		"a file, in the singular":      {"kustomization.yaml", "secretGenerator: [{name: a, env: '" + url + "'}]"},
		"a CRD":                        {"kustomization.yaml", "resources: [a.yaml]\ncrds: ['" + url + "']", "a.yaml", configMap},
		"a configuration":              {"kustomization.yaml", "resources: [a.yaml]\nconfigurations: ['" + url + "']", "a.yaml", configMap},
		"a schema":                     {"kustomization.yaml", "resources: [a.yaml]\nopenapi: {path: '" + url + "'}", "a.yaml", configMap},
		"a transformer":                {"kustomization.yaml", "resources: [a.yaml]\ntransformers: ['" + url + "']", "a.yaml", configMap},
		"a transformer as an object":   {"kustomization.yaml", "resources: [a.yaml]\ntransformers: ['" + url + "?a: b']", "a.yaml", configMap},
		"a generator":                  {"kustomization.yaml", "generators: ['HTTP" + strings.TrimPrefix(url, "http") + "']"},
		"what a transformer reads":     {"kustomization.yaml", "resources: [a.yaml]\ntransformers: [t.yaml]", "a.yaml", configMap, "t.yaml", patch + "PATH: " + url},
		"what an inline one reads":     {"kustomization.yaml", "resources: [a.yaml]\ntransformers:\n- |\n  " + strings.ReplaceAll(patch, "\n", "\n  ") + "path: " + url, "a.yaml", configMap},
		"what a generator reads":       {"kustomization.yaml", "generators: [t.yaml]", "t.yaml", "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: p}\nfiles: ['k=" + url + "']"},
		"a value that a chart brought": {"kustomization.yaml", "resources: [" + url + "]", "Chart.yaml", chartYAML, "templates/a.yaml", configMap},
	}
	for name, files := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := rendered(t, input(files...))
			if err == nil || !strings.Contains(err.Error(), "is elsewhere: the agent fetches nothing") || !errors.Is(err, ErrInvalid) {
				t.Errorf("error %v", err)
			}
		})
	}
	if n := requests.Load(); n > 0 {
		t.Errorf("%d requests", n)
	}
}

func TestKustomizePlugins(t *testing.T) {
	in := input("kustomization.yaml", "resources: [a.yaml]\ntransformers: [t.yaml]\ngenerators:\n- |\n"+
		"  {apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: b}, files: [x.txt], literals: ['l=https://x.example']}\n",
		"a.yaml", configMap, "x.txt", "hello", "p.yaml", "- {op: add, path: /data/patched, value: 'yes'}",
		"t.yaml", "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: p}\npath: p.yaml\ntarget: {kind: ConfigMap}\n---\n"+
			"apiVersion: builtin\nkind: AnnotationsTransformer\nmetadata: {name: q}\nannotations: {docs: https://docs.example}\nfieldSpecs: [{path: metadata/annotations, create: true}]\n")
	got, err := rendered(t, in)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"patched: \"yes\"", "x.txt: hello", "l: https://x.example", "docs: https://docs.example"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestKustomizeLimits(t *testing.T) {
	// Each level needs the one below twice.
	files := []string{"0/kustomization.yaml", "configMapGenerator: [{name: a, literals: [a=b]}]"}
	for i := 1; i <= 12; i++ {
		files = append(files,
			fmt.Sprintf("%d/kustomization.yaml", i), "resources: [a, b]",
			fmt.Sprintf("%d/a/kustomization.yaml", i), fmt.Sprintf("namePrefix: a-\nresources: [../../%d]", i-1),
			fmt.Sprintf("%d/b/kustomization.yaml", i), fmt.Sprintf("namePrefix: b-\nresources: [../../%d]", i-1))
	}
	big := strings.Repeat("x", 1<<20)
	keys := make([]string, 20)
	for i := range keys {
		keys[i] = fmt.Sprintf("k%d=big.txt", i)
	}
	tests := map[string]struct {
		in   Input
		want string
	}{
		"a tree that doubles":      {input(files...).kustomized("12"), "more than 1000 kustomizations"},
		"a large file, many times": {input("kustomization.yaml", "configMapGenerator: [{name: a, files: ["+strings.Join(keys, ", ")+"]}]", "big.txt", big), "more than 16 MiB"},
		"many objects":             {input("kustomization.yaml", "resources: [a.yaml]", "a.yaml", strings.Repeat("---\n"+configMap, 3001)), "more than 3000 objects"},
		"a large resource":         {input("kustomization.yaml", "resources: [a.yaml]", "a.yaml", strings.Repeat("#", 17<<20)), "more than 16 MiB"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := rendered(t, tc.in)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !errors.Is(err, ErrInvalid) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestOutputLimit(t *testing.T) {
	_, err := Objects(input("Chart.yaml", chartYAML), make([]byte, MaxOutput+1))
	if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "the templates of the bundle give 33554433 bytes, at most 33554432") {
		t.Errorf("error %v", err)
	}
}

// TestKustomizeTogether is for the race detector: Kustomize has a schema for the process.
func TestKustomizeTogether(t *testing.T) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			in := input("kustomization.yaml", "resources: [a.yaml]\nnamePrefix: x-", "a.yaml", configMap)
			if got, err := rendered(t, in); err != nil || !strings.Contains(got, "name: x-a") {
				t.Errorf("%v, rendered %s", err, got)
			}
		})
	}
	all.Wait()
}

func FuzzKustomize(f *testing.F) {
	f.Add("resources: [a.yaml]\nnamePrefix: x-")
	f.Add("resources: [a.yaml]\npatches: [{patch: '[{op: remove, path: /data}]', target: {kind: ConfigMap}}]")
	f.Add("resources: [a.yaml]\nreplacements: [{source: {kind: ConfigMap, fieldPath: data.text}, targets: [{select: {kind: ConfigMap}, fieldPaths: [metadata.name]}]}]")
	f.Add("transformers:\n- |\n  null\ngenerators: ['']\nvars: [{name: A, objref: {kind: X, name: y, apiVersion: v1}}]")
	f.Add("- a")
	f.Fuzz(func(_ *testing.T, kustomization string) {
		in := input("kustomization.yaml", kustomization, "a.yaml", configMap)
		// An error is fine, a panic is not.
		_, _ = Objects(in, []byte(configMap))
	})
}
