package target

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"pgregory.net/rapid"
)

// drawn options: every field of the imported types is sometimes set. A value below one
// key has always one shape, as it has where people customize: a text in the place of a
// dict would forget what was there, and merging could not be done in any order.
func drawn(t *rapid.T, label string) fleet.BundleDeploymentOptions {
	fields := map[string]any{}
	drawStruct(t, label, reflect.TypeFor[fleet.BundleDeploymentOptions](), fields)
	data, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	var o fleet.BundleDeploymentOptions
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func drawStruct(t *rapid.T, label string, of reflect.Type, into map[string]any) {
	for _, f := range reflect.VisibleFields(of) {
		name := jsonName(f)
		if f.Anonymous || name == "" || !rapid.Bool().Draw(t, label+name) {
			continue
		}
		into[name] = draw(t, label+name, f.Type)
	}
}

func draw(t *rapid.T, label string, of reflect.Type) any {
	word := rapid.SampledFrom([]string{"a", "b", "c"})
	switch of.Kind() {
	case reflect.Pointer:
		return draw(t, label, of.Elem())
	case reflect.String:
		return word.Draw(t, label)
	case reflect.Bool:
		return rapid.Bool().Draw(t, label)
	case reflect.Int, reflect.Int64:
		return rapid.IntRange(0, 3).Draw(t, label)
	case reflect.Slice:
		var out []any
		seen := map[string]bool{}
		for range rapid.IntRange(0, 2).Draw(t, label) {
			one := draw(t, label, of.Elem())
			// No list has an entry twice.
			if key := fmt.Sprint(one); !seen[key] {
				seen[key], out = true, append(out, one)
			}
		}
		return out
	case reflect.Map:
		return map[string]any{word.Draw(t, label+"key"): draw(t, label, of.Elem())}
	case reflect.Struct:
		if of == reflect.TypeFor[fleet.GenericMap]() {
			return map[string]any{
				"text": word.Draw(t, label), word.Draw(t, label+"k"): 1, "list": []any{word.Draw(t, label+"list")},
				"below": map[string]any{word.Draw(t, label+"b"): map[string]any{word.Draw(t, label+"c"): word.Draw(t, label+"v")}},
			}
		}
		out := map[string]any{}
		drawStruct(t, label, of, out)
		return out
	default:
		panic("nothing to draw for " + of.String())
	}
}

func TestMergeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := unique(drawn(t, "a")), unique(drawn(t, "b")), unique(drawn(t, "c"))
		before := []fleet.BundleDeploymentOptions{*a.DeepCopy(), *b.DeepCopy(), *c.DeepCopy()}
		if diff := cmp.Diff(merge(merge(a, b), c), merge(a, merge(b, c)), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("in another order of merging (-(ab)c +a(bc)):\n%s", diff)
		}
		if diff := cmp.Diff(a, merge(a, fleet.BundleDeploymentOptions{}), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("nothing merged over it changed it:\n%s", diff)
		}
		if diff := cmp.Diff(a, merge(fleet.BundleDeploymentOptions{}, a), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("merged over nothing it changed:\n%s", diff)
		}
		merged := merge(a, b)
		if diff := cmp.Diff(merged, merge(merged, b), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(fleet.YAMLOptions{}, "Overlays"),
			cmpopts.IgnoreFields(fleet.IgnoreOptions{}, "Conditions"), cmpopts.IgnoreFields(fleet.GitOpsHelmOptions{}, "ValuesFiles")); diff != "" {
			t.Fatalf("merged twice:\n%s", diff)
		}
		scribble(reflect.ValueOf(&merged).Elem())
		if diff := cmp.Diff(before, []fleet.BundleDeploymentOptions{a, b, c}); diff != "" {
			t.Fatalf("what was merged shares with what it was made from:\n%s", diff)
		}
	})
}

// unique leaves of lists with keys the last entry of each key: within one list, a key
// stands once.
func unique(o fleet.BundleDeploymentOptions) fleet.BundleDeploymentOptions {
	return merge(fleet.BundleDeploymentOptions{}, merge(fleet.BundleDeploymentOptions{Diff: &fleet.DiffOptions{}, Helm: &fleet.HelmOptions{}}, o))
}

// scribble changes everything that can be reached.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			scribble(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			scribble(v.Index(i))
			v.Index(i).SetZero()
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			scribble(v.MapIndex(key))
			v.SetMapIndex(key, reflect.Value{})
		}
	default:
	}
}
