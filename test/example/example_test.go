package example

import (
	"path/filepath"
	"strings"
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"open-cluster-management.io/fleet-addon/pkg/target"
)

func example(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	objects, err := Read(filepath.Join("..", "..", "examples", "dev-stg-prod"))
	if err != nil {
		t.Fatal(err)
	}
	bundle, rest, err := Split(objects)
	if err != nil {
		t.Fatal(err)
	}
	if len(rest) < 4 {
		t.Errorf("%d objects beside the bundle", len(rest))
	}
	return bundle
}

// The example as it is has to take every version's edits, and what comes out is a bundle that the add-on takes.
func TestVersionsOfTheExample(t *testing.T) {
	base := example(t)
	revisions := map[string]string{}
	for _, v := range Versions {
		t.Run(v.Name, func(t *testing.T) {
			changed, err := v.Of(base)
			if err != nil {
				t.Fatal(err)
			}
			var b fleet.Bundle
			if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(changed.Object, &b, true); err != nil {
				t.Fatal(err)
			}
			if errs := target.Validate(&b); len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
			text := ""
			for _, r := range b.Spec.Resources {
				text += r.Content
			}
			if !strings.Contains(text, "version: "+v.Chart+"\n") {
				t.Errorf("the chart has not version %s", v.Chart)
			}
			if bad := strings.Contains(text, badImage); bad != v.Held {
				t.Errorf("the bad image stands in it: %v", bad)
			}
			revision := target.Revision(&b, text)
			if other, ok := revisions[revision]; ok {
				t.Errorf("the same revision as %s", other)
			}
			revisions[revision] = v.Name
		})
	}
}

func TestVersionOfAnotherExample(t *testing.T) {
	base := example(t)
	v := Version{Name: "v9", edits: map[string]string{"message: good morning": "message: good night"}}
	if _, err := v.Of(base); err == nil || !strings.Contains(err.Error(), `v9: "message: good morning" stands 0 times`) {
		t.Errorf("error %v", err)
	}
}

func TestSplit(t *testing.T) {
	object := func(kind string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"kind": kind}}
	}
	for name, objects := range map[string][]*unstructured.Unstructured{
		"no bundle": {object("Namespace")}, "two bundles": {object("Bundle"), object("Bundle")},
	} {
		if _, _, err := Split(objects); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
