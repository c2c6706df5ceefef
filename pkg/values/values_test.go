package values

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"

	"github.com/google/go-cmp/cmp"
)

func helm(data map[string]any) *fleet.HelmOptions {
	return &fleet.HelmOptions{Values: &fleet.GenericMap{Data: data}}
}

func target(name string, h *fleet.HelmOptions) fleet.BundleTarget {
	return fleet.BundleTarget{Name: name, BundleDeploymentOptions: fleet.BundleDeploymentOptions{Helm: h}}
}

func bundle(h *fleet.HelmOptions, targets ...fleet.BundleTarget) *fleet.Bundle {
	b := &fleet.Bundle{}
	b.Namespace, b.Name = "team", "app"
	b.Spec.Helm, b.Spec.Targets = h, targets
	return b
}

func TestValuesGoIntoTheSecretAndBack(t *testing.T) {
	whole := func() *fleet.Bundle {
		return bundle(helm(map[string]any{"a": "b"}), target("dev", helm(map[string]any{"n": 1.5})), target("none", nil),
			target("empty", &fleet.HelmOptions{ReleaseName: "x"}))
	}
	b := whole()
	data, err := Take(b)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{"values.yaml": []byte(`{"a":"b"}`), "dev": []byte(`{"n":1.5}`)}
	if diff := cmp.Diff(want, data); diff != "" {
		t.Error(diff)
	}
	if got := Hash(want); b.Spec.ValuesHash != got || len(got) != 64 {
		t.Errorf("valuesHash %q, want %q", b.Spec.ValuesHash, got)
	}
	left, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{`"b"`, "1.5"} {
		if strings.Contains(string(left), value) {
			t.Errorf("the bundle still has %s: %s", value, left)
		}
	}
	if err := Put(b, data); err != nil {
		t.Fatal(err)
	}
	b.Spec.ValuesHash = ""
	if diff := cmp.Diff(whole(), b); diff != "" {
		t.Error(diff)
	}
}

func TestWithoutValuesThereIsNoSecret(t *testing.T) {
	b := bundle(helm(nil), target("", helm(map[string]any{})))
	b.Spec.ValuesHash = "old"
	data, err := Take(b)
	if err != nil || data != nil || b.Spec.ValuesHash != "" {
		t.Errorf("data %v, hash %q, error %v", data, b.Spec.ValuesHash, err)
	}
}

func TestTakeRefuses(t *testing.T) {
	some := map[string]any{"password": "hunter2"}
	tests := map[string]struct {
		bundle *fleet.Bundle
		want   string
	}{
		"a target without a name":      {bundle(nil, target("", helm(some))), "spec.targets[0].helm.values: a target with values needs a name"},
		"two targets of one name":      {bundle(nil, target("a", helm(some)), target("a", helm(some))), `spec.targets[1].helm.values: the name "a" is taken`},
		"a target with the bundle key": {bundle(helm(some), target(BundleKey, helm(some))), `the name "values.yaml" is taken`},
		"values that are not JSON":     {bundle(helm(map[string]any{"hunter2": func() {}})), "spec.helm.values: values are no map"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Take(tt.bundle)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error quotes a value: %v", err)
			}
		})
	}
}

func TestPutRefuses(t *testing.T) {
	data := map[string][]byte{BundleKey: []byte(`["hunter2"]`)}
	b := bundle(nil)
	b.Spec.ValuesHash = "other"
	if err := Put(b, data); !errors.Is(err, ErrMismatch) {
		t.Errorf("got %v, want ErrMismatch", err)
	}
	b.Spec.ValuesHash = Hash(data)
	if err := Put(b, data); !errors.Is(err, ErrMalformed) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v, want ErrMalformed without the value", err)
	}
}

func TestTargetsOfOneNameCannotMultiplyValues(t *testing.T) {
	data := map[string][]byte{"all": []byte(`{"key":"` + strings.Repeat("x", 1000) + `"}`)}
	b := bundle(nil)
	b.Spec.ValuesHash = Hash(data)
	b.Spec.Targets = make([]fleet.BundleTarget, 10)
	for i := range b.Spec.Targets {
		b.Spec.Targets[i].Name = "all"
	}
	if err := Put(b, data); err != nil || b.Spec.Targets[9].Helm.Values.Data["key"] == nil {
		t.Fatalf("some targets of one name: %v", err)
	}
	b.Spec.Targets = make([]fleet.BundleTarget, 10_000)
	for i := range b.Spec.Targets {
		b.Spec.Targets[i].Name = "all"
	}
	if err := Put(b, data); !errors.Is(err, ErrTooMany) {
		t.Errorf("got %v, want ErrTooMany", err)
	}
}
