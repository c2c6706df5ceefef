package deployment

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

var bundle = types.NamespacedName{Namespace: "team", Name: "hello"}

const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hello}\n"

func document(t *testing.T, o any) string {
	t.Helper()
	data, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return "---\n" + string(data)
}

// ours is a file as `fleetctl target` writes it: the objects of the ManifestWork of each
// cluster, with values of its own, behind the Content.
func ours(t *testing.T, clusters ...string) string {
	t.Helper()
	name, gz, sum, err := content.Pack([]fleet.BundleResource{{Name: "object.yaml", Content: object}})
	if err != nil {
		t.Fatal(err)
	}
	text := document(t, &v1alpha1.Content{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Content"},
		ObjectMeta: metav1.ObjectMeta{Name: name}, Content: gz, SHA256Sum: sum,
	})
	for _, cluster := range clusters {
		w, err := work.Build(work.Deployment{
			Bundle: bundle, Cluster: cluster, AgentNamespace: "agent", ID: name + ":options", Admission: "token",
			Content: v1alpha1.ContentSource{Name: name},
			Options: fleet.BundleDeploymentOptions{Helm: &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"of": cluster}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range w.Spec.Workload.Manifests {
			var o map[string]any
			if err := json.Unmarshal(m.Raw, &o); err != nil {
				t.Fatal(err)
			}
			if o["kind"] == "BundleDeployment" {
				o["metadata"].(map[string]any)["annotations"].(map[string]any)[v1alpha1.AnnotationCluster] = cluster
			}
			text += document(t, o)
		}
	}
	return text
}

// theirs is a file as Fleet's own `fleet target` writes it: the BundleDeployment in a
// namespace of the cluster's, the files as Fleet encodes them, values in the options.
func theirs(t *testing.T, change ...func(*fleet.BundleDeployment)) string {
	t.Helper()
	raw := fmt.Appendf(nil, `{"resources":[{"name":"object.yaml","content":%q}]}`+"\n", object)
	digest := sha256.Sum256(raw)
	sum := hex.EncodeToString(digest[:])
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	bd := &fleet.BundleDeployment{
		TypeMeta: metav1.TypeMeta{APIVersion: fleet.SchemeGroupVersion.String(), Kind: "BundleDeployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "cluster-fleet-local-c1-abc", Name: "hello", Labels: map[string]string{
			fleet.BundleLabel: "hello", fleet.BundleNamespaceLabel: "team", fleet.ClusterLabel: "c1",
		}},
		Spec: fleet.BundleDeploymentSpec{
			DeploymentID: ("s-" + sum)[:63] + ":options",
			Options: fleet.BundleDeploymentOptions{
				DefaultNamespace: "there",
				Helm:             &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"of": "c1"}}},
			},
		},
	}
	for _, c := range change {
		c(bd)
	}
	return document(t, bd) + document(t, map[string]any{
		"apiVersion": fleet.SchemeGroupVersion.String(), "kind": "Content", "metadata": map[string]any{"name": ("s-" + sum)[:63]},
		"content": base64.StdEncoding.EncodeToString(gz.Bytes()), "sha256sum": sum,
	})
}

func fleetsSecret(t *testing.T, name, values, staged string) string {
	return document(t, map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name},
		"type": fleet.SecretTypeBundleDeploymentOptions, "stringData": map[string]string{"values": values, "stagedValues": staged},
	})
}

func withHash(values string) func(*fleet.BundleDeployment) {
	return func(bd *fleet.BundleDeployment) {
		bd.Spec.Options.Helm.Values, bd.Spec.ValuesHash = nil, hash([]byte(values))
	}
}

func TestChoose(t *testing.T) {
	files := []content.File{{Name: "object.yaml", Data: []byte(object)}}
	for name, tc := range map[string]struct {
		text          string
		cluster, name string
		wantValues    string
		wantKey       string
	}{
		"our own":                     {text: ours(t, "c1"), wantValues: "of: c1\n", wantKey: "default/hello"},
		"our own, the only one":       {text: ours(t, "c1"), cluster: "c1", name: "hello", wantValues: "of: c1\n", wantKey: "default/hello"},
		"one cluster of three":        {text: ours(t, "c1", "c2", "c3"), cluster: "c2", wantValues: "of: c2\n", wantKey: "default/hello"},
		"Fleet's, values in it":       {text: theirs(t), wantValues: `{"of":"c1"}`, wantKey: "there/hello"},
		"Fleet's, by the bundle name": {text: theirs(t), name: "hello", cluster: "c1", wantValues: `{"of":"c1"}`, wantKey: "there/hello"},
		"Fleet's, values in a Secret": {
			text: theirs(t, withHash(`{"a":1}{"b":2}`)) + fleetsSecret(t, "hello", `{"a":1}`, `{"b":2}`), wantValues: `{"a":1}`, wantKey: "there/hello",
		},
		"written by hand, without an id": {
			text: theirs(t, func(bd *fleet.BundleDeployment) { bd.Spec = fleet.BundleDeploymentSpec{} }), wantKey: "default/hello",
		},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := Read("file.yaml", []byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			d, err := set.Choose(tc.cluster, tc.name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(files, d.Files); diff != "" {
				t.Errorf("files (-want +got)\n%s", diff)
			}
			if got := string(d.Values); got != tc.wantValues {
				t.Errorf("values %q, want %q", got, tc.wantValues)
			}
			if got := d.Key().String(); got != tc.wantKey {
				t.Errorf("release %s, want %s", got, tc.wantKey)
			}
			if d.Object.Name != work.Name(bundle) || d.Object.Spec.Bundle != "team/hello" || d.Object.Spec.DeploymentID == "" {
				t.Errorf("BundleDeployment %+v", d.Object)
			}
			if h := d.Object.Spec.Options.Helm; h != nil && h.Values != nil {
				t.Error("the options have values")
			}
		})
	}
}

func TestChooseNone(t *testing.T) {
	contentOf := func(text string) string {
		return text[strings.Index(text, "---\napiVersion: fleet.cattle.io/v1alpha1\ncontent:"):]
	}
	for name, tc := range map[string]struct{ text, cluster, name, want string }{
		"no object at all":    {want: "file.yaml: no BundleDeployment in it: `fleetctl target` makes such a file"},
		"only a Content":      {text: contentOf(theirs(t)), want: "file.yaml: no BundleDeployment in it"},
		"only something else": {text: object, want: "file.yaml: no BundleDeployment in it"},
		"no Content":          {text: strings.TrimSuffix(theirs(t), contentOf(theirs(t))), want: "no Content s-"},
		"another Content":     {text: strings.TrimSuffix(theirs(t), contentOf(theirs(t))) + ours(t), want: "with its files; there are s-"},
		"several clusters":    {text: ours(t, "c1", "c2"), want: "file.yaml: 2 BundleDeployments; choose one with --cluster or --name: " + work.Name(bundle) + " for cluster c1, " + work.Name(bundle) + " for cluster c2"},
		"another cluster":     {text: ours(t, "c1"), cluster: "c9", want: "file.yaml: no BundleDeployment for cluster c9; there are: " + work.Name(bundle) + " for cluster c1"},
		"another name":        {text: ours(t, "c1"), name: "bye", want: "no BundleDeployment for name bye"},
		"a broken Content":    {text: strings.Replace(ours(t, "c1"), "name: s-", "name: s-0", 1), want: "no Content s-"},
		"a wrong sum":         {text: strings.Replace(theirs(t), "sha256sum: ", "sha256sum: 0", 1), want: "sha256sum is 0"},
		"a Secret is missing": {text: theirs(t, withHash("x")), want: "no Secret hello with its Helm values: put it beside the BundleDeployment"},
		"a Secret is older":   {text: theirs(t, withHash("x")) + fleetsSecret(t, "hello", "y", ""), want: "the Secret hello does not have the values of spec.valuesHash"},
		"files in a registry": {text: theirs(t, func(bd *fleet.BundleDeployment) { bd.Spec.OCIContents = true }), want: "spec.ociContents"},
		"the chart of a HelmOp": {
			text: theirs(t, func(bd *fleet.BundleDeployment) { bd.Spec.HelmChartOptions = &fleet.BundleHelmOptions{} }), want: "spec.helmChartOptions",
		},
		"no YAML":             {text: "a: [", want: "file.yaml: document 1: error converting YAML to JSON"},
		"a field is wrong":    {text: "apiVersion: fleet.cattle.io/v1alpha1\nkind: BundleDeployment\nspec: {deploymentID: [secret]}\n", want: "spec.deploymentID is not a string"},
		"a bundle is missing": {text: "apiVersion: fleet.open-cluster-management.io/v1alpha1\nkind: BundleDeployment\nmetadata: {name: x}\nspec: {}\n", want: "spec.bundle"},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := Read("file.yaml", []byte(tc.text))
			if err == nil {
				_, err = set.Choose(tc.cluster, tc.name)
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret]") {
				t.Errorf("the error quotes a value: %v", err)
			}
		})
	}
}

// TestTampered: files that are not what the name says are never used.
func TestTampered(t *testing.T) {
	_, other, _, err := content.Pack([]fleet.BundleResource{{Name: "evil.yaml", Content: object}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := Read("file.yaml", []byte(ours(t, "c1")))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range set.contents {
		c.Content = other
	}
	if _, err := set.Choose("", ""); err == nil || !strings.Contains(err.Error(), content.ErrMismatch.Error()) {
		t.Errorf("got %v", err)
	}
}

// TestFetch: a Content that is not in the file is got from elsewhere.
func TestFetch(t *testing.T) {
	all, err := Read("file.yaml", []byte(ours(t, "c1")))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(strings.TrimPrefix(ours(t, "c1"), "---\n"), "---\n")
	set, err := Read("work", []byte(rest))
	if err != nil {
		t.Fatal(err)
	}
	set.Fetch = func(name string) (*v1alpha1.Content, error) { return all.contents[name], nil }
	if d, err := set.Choose("", ""); err != nil || len(d.Files) != 1 {
		t.Errorf("got %v, %v", d, err)
	}
}
