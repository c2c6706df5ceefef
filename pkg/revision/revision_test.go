package revision

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/target"
)

const secret = "hunter2"

// bundle of a spec in YAML, with files.
func bundle(t *testing.T, spec string) *fleet.Bundle {
	t.Helper()
	b := &fleet.Bundle{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "app"}}
	if err := yaml.Unmarshal([]byte(spec), &b.Spec); err != nil {
		t.Fatal(err)
	}
	b.Spec.Resources = []fleet.BundleResource{{Name: "a.yaml", Content: secret}}
	return b
}

func keep(t *testing.T, b *fleet.Bundle) (*Revision, *appsv1.ControllerRevision) {
	t.Helper()
	r, err := Of(b, metav1.OwnerReference{Kind: "Bundle", Name: b.Name, UID: "bundle"}, "s-1")
	if err != nil {
		t.Fatal(err)
	}
	r.Number = 3
	cr, err := r.Build()
	if err != nil {
		t.Fatal(err)
	}
	cr.UID = "kept"
	return r, cr
}

var specs = map[string]struct {
	spec       string
	wantValues bool
}{
	"nothing but files":   {spec: "{}"},
	"options":             {spec: "{namespace: web, keepResources: true, helm: {releaseName: web, chart: c}}"},
	"values":              {spec: "{helm: {chart: c, values: {password: hunter2, deep: {list: [1, 2.5, x, null, true]}}}}", wantValues: true},
	"values and no more":  {spec: "{helm: {values: {password: hunter2}}}", wantValues: true},
	"values of no keys":   {spec: "{helm: {values: {}}}", wantValues: true},
	"templates of values": {spec: "{helm: {templateValues: {password: '{{ hunter2 }}'}}}", wantValues: true},
	"values of a target": {
		spec:       "{targets: [{clusterName: dev}, {clusterName: prod, helm: {values: {password: hunter2}}}], targetRestrictions: [{clusterName: dev}]}",
		wantValues: true,
	},
	"values everywhere": {
		spec: `{helm: {values: {a: hunter2}}, targetCustomizationMode: FirstMatch,
targets: [{clusterName: dev, helm: {values: {a: hunter2}}}, {clusterName: prod, helm: {templateValues: {a: hunter2}}}]}`,
		wantValues: true,
	},
}

func TestWhatIsKeptComesBack(t *testing.T) {
	for name, tc := range specs {
		t.Run(name, func(t *testing.T) {
			b := bundle(t, tc.spec)
			b.Spec.Paused, b.Spec.RolloutStrategy = true, &fleet.RolloutStrategy{}
			before := b.DeepCopy()
			r, cr := keep(t, b)
			if diff := cmp.Diff(before, b); diff != "" {
				t.Errorf("the bundle was changed (-before +after):\n%s", diff)
			}
			if r.HasValues() != tc.wantValues {
				t.Errorf("has values: %v, want %v", r.HasValues(), tc.wantValues)
			}
			if text := string(cr.Data.Raw); strings.Contains(text, secret) {
				t.Errorf("a value or a file is in the ControllerRevision: %s", text)
			}
			var v []byte
			if r.HasValues() {
				v = r.Secret(cr).Data[SecretKey]
			}
			spec, err := Open(cr, v)
			if err != nil {
				t.Fatal(err)
			}
			want := b.Spec.DeepCopy()
			want.Resources, want.Paused, want.RolloutStrategy = nil, false, nil
			if diff := cmp.Diff(want, spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
			kept, err := Read(cr)
			if err != nil || kept != (Kept{Content: "s-1", Values: tc.wantValues}) {
				t.Errorf("kept %+v, %v", kept, err)
			}
		})
	}
}

func TestObjects(t *testing.T) {
	b := bundle(t, specs["values"].spec)
	b.Labels = map[string]string{fleet.CommitLabel: "abc"}
	r, cr := keep(t, b)
	hash := target.Revision(b, "s-1")
	key := types.NamespacedName{Namespace: "team", Name: "app"}
	if !Is(cr, key) || cr.Name != Name(key, hash) || cr.Revision != 3 || Hash(cr) != hash {
		t.Errorf("ControllerRevision %s with revision %s, number %d", cr.Name, Hash(cr), cr.Revision)
	}
	if cr.Annotations[v1alpha1.AnnotationCommit] != "abc" || cr.Labels[v1alpha1.LabelBundle] != "app" || cr.OwnerReferences[0].UID != "bundle" {
		t.Errorf("metadata %+v", cr.ObjectMeta)
	}
	s := r.Secret(cr)
	if s.Name != SecretName(cr.Name) || s.OwnerReferences[0].UID != "kept" || s.Immutable == nil || !*s.Immutable || s.Type != SecretType {
		t.Errorf("Secret %+v", s)
	}
	if len(Name(types.NamespacedName{Namespace: "team", Name: strings.Repeat("x.", 120)}, hash)) > 74 {
		t.Error("the name is not bounded")
	}
}

func TestIs(t *testing.T) {
	key := types.NamespacedName{Namespace: "team", Name: "app"}
	for name, tc := range map[string]struct {
		change func(*appsv1.ControllerRevision)
		want   bool
	}{
		"as written":            {func(*appsv1.ControllerRevision) {}, true},
		"a copy":                {func(cr *appsv1.ControllerRevision) { cr.Name = "copy" }, false},
		"without the label":     {func(cr *appsv1.ControllerRevision) { cr.Labels = nil }, false},
		"of another bundle":     {func(cr *appsv1.ControllerRevision) { cr.Annotations[v1alpha1.AnnotationBundle] = "team/web" }, false},
		"in another namespace":  {func(cr *appsv1.ControllerRevision) { cr.Namespace = "other" }, false},
		"with another revision": {func(cr *appsv1.ControllerRevision) { cr.Annotations[v1alpha1.AnnotationRevision] = "0" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, cr := keep(t, bundle(t, "{}"))
			tc.change(cr)
			if got := Is(cr, key); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		change       func(*appsv1.ControllerRevision)
		values       string
		wantMismatch bool
	}{
		"another option": {
			change:       func(cr *appsv1.ControllerRevision) { replace(cr, `"chart":"c"`, `"chart":"d"`) },
			values:       `{"bundle":{"values":{"a":"hunter2"}}}`,
			wantMismatch: true,
		},
		"another content":        {change: func(cr *appsv1.ControllerRevision) { replace(cr, "s-1", "s-2") }, values: `{"bundle":{"values":{"a":"hunter2"}}}`, wantMismatch: true},
		"other values":           {values: `{"bundle":{"values":{"a":"other"}}}`, wantMismatch: true},
		"no values":              {wantMismatch: true},
		"values of no target":    {values: `{"bundle":{"values":{"a":"hunter2"}},"targets":{"7":{}}}`, wantMismatch: true},
		"data that is not ours":  {change: func(cr *appsv1.ControllerRevision) { cr.Data.Raw = []byte(`{"spec":{}}`) }},
		"data without the spec":  {change: func(cr *appsv1.ControllerRevision) { cr.Data.Raw = []byte(`{"content":"s-1"}`) }, wantMismatch: true},
		"data that is no object": {change: func(cr *appsv1.ControllerRevision) { cr.Data.Raw = []byte(`"hunter2"`) }},
	} {
		t.Run(name, func(t *testing.T) {
			_, cr := keep(t, bundle(t, "{helm: {chart: c, values: {a: hunter2}}}"))
			if tc.change != nil {
				tc.change(cr)
			}
			_, err := Open(cr, []byte(tc.values))
			if err == nil || errors.Is(err, ErrMismatch) != tc.wantMismatch {
				t.Fatalf("error %v, want a mismatch: %v", err, tc.wantMismatch)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error tells a value: %v", err)
			}
		})
	}
}

func replace(cr *appsv1.ControllerRevision, old, with string) {
	cr.Data.Raw = []byte(strings.ReplaceAll(string(cr.Data.Raw), old, with))
}

func TestStrip(t *testing.T) {
	_, cr := keep(t, bundle(t, specs["values"].spec))
	cr.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "x"}}
	want, err := Read(cr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Strip(cr); err != nil {
		t.Fatal(err)
	}
	got, err := Read(cr)
	if err != nil || got != want {
		t.Errorf("kept %+v, %v; want %+v", got, err, want)
	}
	if strings.Contains(string(cr.Data.Raw), "chart") || cr.ManagedFields != nil {
		t.Errorf("not stripped: %s", cr.Data.Raw)
	}
}

func TestStripLeavesNothingOfWhatIsNotOurs(t *testing.T) {
	for name, data := range map[string]string{
		"no document":             `["` + strings.Repeat("x", 1000) + `"]`,
		"no name of a Content":    `{"spec":{"namespace":"` + strings.Repeat("x", 1000) + `"}}`,
		"a novel for a name":      `{"content":"` + strings.Repeat("x", 1000) + `"}`,
		"a name that none can be": `{"content":"../x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			cr := &appsv1.ControllerRevision{}
			cr.Data.Raw = []byte(data)
			if _, err := Strip(cr); err != nil || len(cr.Data.Raw) > 0 {
				t.Errorf("%d bytes are kept, error %v", len(cr.Data.Raw), err)
			}
			if _, err := Read(cr); err == nil {
				t.Error("it can be read")
			}
		})
	}
}
