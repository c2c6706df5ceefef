package work

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	workv1 "open-cluster-management.io/api/work/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

var (
	web  = types.NamespacedName{Namespace: "apps", Name: "web"}
	noon = time.Date(2026, 5, 1, 12, 0, 0, 123456000, time.UTC)
)

func deployment(change ...func(*Deployment)) Deployment {
	d := Deployment{
		Bundle: web, Cluster: "dev", AgentNamespace: "agent",
		ID: "s-1:abc", Revision: "0123456789", Admission: "token-1",
		Place:          rollout.Place{Lane: "all", GroupKey: rollout.GroupKey{Name: "dev", Index: 2}},
		MinSuccessTime: 20 * time.Second,
		Content:        v1alpha1.ContentSource{Name: "s-1", Inline: []byte("zipped")},
		Options: fleet.BundleDeploymentOptions{TargetNamespace: "web", Helm: &fleet.HelmOptions{ReleaseName: "web",
			Values: &fleet.GenericMap{Data: map[string]any{"password": "s3cret", "replicas": float64(2), "big": float64(12345678)}}}},
		Stamps: rollout.Stamps{AdmittedAt: noon, MemberSince: noon.Add(-time.Hour)},
	}
	for _, c := range change {
		c(&d)
	}
	return d
}

func build(t *testing.T, d Deployment) *workv1.ManifestWork {
	t.Helper()
	w, err := Build(d)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func decode[T any](t *testing.T, w *workv1.ManifestWork, i int) T {
	t.Helper()
	var out T
	if err := json.Unmarshal(w.Spec.Workload.Manifests[i].Raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestBuildWithValues(t *testing.T) {
	d := deployment()
	w := build(t, d)
	if len(w.Spec.Workload.Manifests) != 2 {
		t.Fatalf("%d manifests, want a Secret and a BundleDeployment", len(w.Spec.Workload.Manifests))
	}
	secret, bd := decode[corev1.Secret](t, w, 0), decode[v1alpha1.BundleDeployment](t, w, 1)
	want := "big: 12345678\npassword: s3cret\nreplicas: 2\n"
	if got := string(secret.Data["values.yaml"]); got != want {
		t.Errorf("values %q, want %q", got, want)
	}
	if secret.Name != w.Name+"-values" || secret.Namespace != "agent" || secret.Kind != "Secret" {
		t.Errorf("secret is %s %s/%s", secret.Kind, secret.Namespace, secret.Name)
	}
	wantSpec := v1alpha1.BundleDeploymentSpec{
		Bundle: "apps/web", DeploymentID: d.ID, Admission: d.Admission, MinSuccessTime: bd.Spec.MinSuccessTime, Content: d.Content,
		Options:      fleet.BundleDeploymentOptions{TargetNamespace: "web", Helm: &fleet.HelmOptions{ReleaseName: "web"}},
		ValuesSecret: secret.Name, ValuesHash: hash(secret.Data["values.yaml"]),
	}
	if diff := cmp.Diff(wantSpec, bd.Spec); diff != "" {
		t.Errorf("BundleDeployment (-want +got):\n%s", diff)
	}
	if bd.Spec.MinSuccessTime.Duration != 20*time.Second {
		t.Errorf("minSuccessTime %v", bd.Spec.MinSuccessTime)
	}
	if d.Options.Helm.Values == nil {
		t.Error("Build took the values out of the options that it was given")
	}
	for _, m := range w.Spec.Workload.Manifests[1:] {
		if strings.Contains(string(m.Raw), "s3cret") || strings.Contains(string(m.Raw), `"status"`) {
			t.Errorf("a value or a status stands in %s", m.Raw)
		}
	}
	for name, text := range w.Annotations {
		if strings.Contains(text, "s3cret") {
			t.Errorf("annotation %s shows a value", name)
		}
	}
}

func TestBuildTakesNoTemplatesOfValues(t *testing.T) {
	d := deployment(func(d *Deployment) {
		d.Options.Helm = &fleet.HelmOptions{TemplateValues: map[string]string{"password": "s3cret"}}
	})
	if _, err := Build(d); err == nil || !strings.Contains(err.Error(), "templateValues") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error %v", err)
	}
}

func TestBuildWithoutValues(t *testing.T) {
	cases := map[string]*fleet.HelmOptions{
		"no helm":      nil,
		"no values":    {ReleaseName: "x"},
		"empty values": {Values: &fleet.GenericMap{Data: map[string]any{}}},
	}
	for name, helm := range cases {
		t.Run(name, func(t *testing.T) {
			w := build(t, deployment(func(d *Deployment) { d.Options.Helm = helm; d.MinSuccessTime = 0 }))
			if len(w.Spec.Workload.Manifests) != 1 {
				t.Fatalf("%d manifests, want the BundleDeployment", len(w.Spec.Workload.Manifests))
			}
			bd := decode[v1alpha1.BundleDeployment](t, w, 0)
			if bd.Spec.ValuesSecret != "" || bd.Spec.ValuesHash != "" || bd.Spec.MinSuccessTime != nil || bd.Kind != "BundleDeployment" {
				t.Errorf("%s %+v", bd.Kind, bd.Spec)
			}
		})
	}
}

func TestBuildFeedbackFindsTheBundleDeployment(t *testing.T) {
	w := build(t, deployment())
	bd := decode[v1alpha1.BundleDeployment](t, w, 1)
	config := w.Spec.ManifestConfigs[0]
	want := workv1.ResourceIdentifier{Group: v1alpha1.GroupName, Resource: "bundledeployments", Namespace: bd.Namespace, Name: bd.Name}
	if diff := cmp.Diff(want, config.ResourceIdentifier); diff != "" {
		t.Errorf("resource (-want +got):\n%s", diff)
	}
	if config.FeedbackScrapeType != workv1.FeedbackWatchType {
		t.Errorf("scrape type %q", config.FeedbackScrapeType)
	}
	// Every path is a field of the status.
	data, err := json.Marshal(fullStatus())
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	for _, p := range config.FeedbackRules[0].JsonPaths {
		if _, ok := fields[strings.TrimPrefix(p.Path, ".status.")]; !ok {
			t.Errorf("path %s is no field of the status", p.Path)
		}
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	first, err := json.Marshal(build(t, deployment()))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, err := json.Marshal(build(t, deployment()))
		if err != nil || string(first) != string(again) {
			t.Fatalf("%v\n%s\n%s", err, first, again)
		}
	}
}

func TestBuildTooLarge(t *testing.T) {
	_, err := Build(deployment(func(d *Deployment) {
		d.Options.Helm.Values.Data = map[string]any{"x": strings.Repeat("y", 400*1024)}
	}))
	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "Bundle apps/web for cluster dev") {
		t.Errorf("error %v", err)
	}
	_, err = Build(deployment(func(d *Deployment) {
		d.Options.Helm.Values.Data = map[string]any{"x": strings.Repeat("y", 300*1024)}
	}))
	if err != nil {
		t.Error(err)
	}
}

func TestShape(t *testing.T) {
	first, err := Shape(deployment())
	if err != nil {
		t.Fatal(err)
	}
	if got := build(t, deployment()).Annotations[v1alpha1.AnnotationHash]; got != first {
		t.Errorf("the work's hash %s is not its shape %s", got, first)
	}
	cases := map[string]struct {
		change func(*Deployment)
		same   bool
	}{
		"nothing":          {change: func(*Deployment) {}, same: true},
		"admission":        {change: func(d *Deployment) { d.Admission = "token-2" }, same: true},
		"place":            {change: func(d *Deployment) { d.Place.Name = "stg" }, same: true},
		"stamps":           {change: func(d *Deployment) { d.Stamps.DoneAt = noon }, same: true},
		"minSuccessTime":   {change: func(d *Deployment) { d.MinSuccessTime = 0 }, same: true},
		"add-on ready":     {change: func(d *Deployment) { d.AddOnReady = "1" }, same: true},
		"revision":         {change: func(d *Deployment) { d.Revision = "x" }, same: true},
		"id":               {change: func(d *Deployment) { d.ID = "s-1:def" }},
		"paused":           {change: func(d *Deployment) { d.Paused = true }},
		"a value":          {change: func(d *Deployment) { d.Options.Helm.Values.Data["replicas"] = float64(3) }},
		"keepResources":    {change: func(d *Deployment) { d.Options.KeepResources = true }},
		"inline":           {change: func(d *Deployment) { d.Content.Inline = nil }},
		"agent namespace":  {change: func(d *Deployment) { d.AgentNamespace = "other" }},
		"without a Secret": {change: func(d *Deployment) { d.Options.Helm.Values = nil }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Shape(deployment(tc.change))
			if err != nil || (got == first) != tc.same {
				t.Errorf("shape %s, %v; first %s, want the same: %v", got, err, first, tc.same)
			}
		})
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("a", 51) + ".-" + strings.Repeat("b", 100)
	cases := map[string]types.NamespacedName{
		"short":          web,
		"dots":           {Namespace: "apps", Name: "web.v1"},
		"long":           {Namespace: "apps", Name: long},
		"long elsewhere": {Namespace: "apps-2", Name: long},
		"dash moved":     {Namespace: "apps-w", Name: "eb"},
		"dash as dot":    {Namespace: "apps", Name: "web-v1"},
		"63":             {Namespace: "apps", Name: strings.Repeat("c", 63)},
		"64":             {Namespace: "apps", Name: strings.Repeat("c", 64)},
	}
	seen := map[string]string{}
	for name, bundle := range cases {
		t.Run(name, func(t *testing.T) {
			got := Name(bundle)
			if errs := validation.IsDNS1123Label(got); len(errs) > 0 {
				t.Errorf("%s: %v", got, errs)
			}
			if other, ok := seen[got]; ok {
				t.Errorf("%s is the name of %q too", got, other)
			}
			seen[got] = name
			for key, value := range Labels(bundle) {
				if errs := validation.IsValidLabelValue(value); len(errs) > 0 {
					t.Errorf("label %s=%s: %v", key, value, errs)
				}
			}
		})
	}
	if got, want := Name(web), "web-"+hash([]byte("apps/web"))[:10]; got != want {
		t.Errorf("name %s, want %s", got, want)
	}
	if got := Labels(cases["63"])[v1alpha1.LabelBundle]; got != cases["63"].Name {
		t.Errorf("a name that fits is label %s", got)
	}
}

func TestSelectorSelectsTheBundlesWorksOnly(t *testing.T) {
	for name, bundle := range map[string]types.NamespacedName{
		"itself": web, "another name": {Namespace: "apps", Name: "web2"}, "another namespace": {Namespace: "app", Name: "web"},
	} {
		w := build(t, deployment(func(d *Deployment) { d.Bundle = bundle; d.AddOnReady = "7" }))
		if got := Selector(web).Matches(labels.Set(w.Labels)); got != (bundle == web) {
			t.Errorf("%s: selected %v", name, got)
		}
	}
}
