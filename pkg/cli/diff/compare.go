package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/render"
)

// Verb is what becomes of an object.
type Verb string

// The verbs.
const (
	Added   Verb = "added"
	Removed Verb = "removed"
	Changed Verb = "changed"
)

// Change is one object that is not the same.
type Change struct {
	Verb       Verb   `json:"change"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	// Diff is unified text of the objects as YAML.
	Diff string `json:"diff"`
}

// Side is what a bundle makes on a cluster, before or after.
type Side struct {
	// Namespace of objects that name none: that of the release.
	Namespace string
	Objects   []*unstructured.Unstructured
}

// context is how many lines that are the same stand around those that are not.
const context = 3

// Compare returns what changes, by kind, namespace and name. Data of Secrets is not in
// it: a key whose value changes is shown with a word in place of the value.
func Compare(before, after Side) ([]Change, error) {
	old, err := index(before)
	if err != nil {
		return nil, err
	}
	now, err := index(after)
	if err != nil {
		return nil, err
	}
	keys := make(map[key]bool, len(old)+len(now))
	for k := range old {
		keys[k] = true
	}
	for k := range now {
		keys[k] = true
	}
	var out []Change
	for k := range keys {
		c, differs, err := compare(k, old[k], now[k])
		if err != nil {
			return nil, err
		}
		if differs {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.APIVersion, b.APIVersion))
	})
	return out, nil
}

// key is what makes an object the same one: its version may change. Hooks can make one
// object more than once; nth tells them apart, from 0.
type key struct {
	group, kind, namespace, name string
	nth                          int
}

func (k key) String() string {
	if k.namespace == "" {
		return k.kind + " " + k.name
	}
	return k.kind + " " + k.namespace + "/" + k.name
}

func index(s Side) (map[key]*unstructured.Unstructured, error) {
	out := make(map[key]*unstructured.Unstructured, len(s.Objects))
	scopes := render.BuiltIn(s.Objects...)
	for _, object := range s.Objects {
		o, err := place(object, s.Namespace, scopes)
		if err != nil {
			return nil, err
		}
		k := key{group: o.GroupVersionKind().Group, kind: o.GetKind(), namespace: o.GetNamespace(), name: o.GetName()}
		for out[k] != nil {
			k.nth++
		}
		out[k] = o
	}
	return out, nil
}

// place returns a copy of an object with the namespace that it goes to, whether it names
// it or not.
func place(o *unstructured.Unstructured, namespace string, scopes render.Scopes) (*unstructured.Unstructured, error) {
	namespaced, err := scopes(o.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	o = o.DeepCopy()
	if namespaced {
		o.SetNamespace(cmp.Or(o.GetNamespace(), namespace))
	} else {
		o.SetNamespace("")
	}
	return o, nil
}

func compare(k key, before, after *unstructured.Unstructured) (Change, bool, error) {
	of := cmp.Or(after, before)
	c := Change{Verb: Changed, APIVersion: of.GetAPIVersion(), Kind: k.kind, Namespace: k.namespace, Name: k.name}
	switch {
	case before == nil:
		c.Verb = Added
	case after == nil:
		c.Verb = Removed
	}
	if isSecret(of) {
		hide(before, after)
	}
	old, err := text(before)
	if err != nil {
		return c, false, fmt.Errorf("%s: %w", k, err)
	}
	now, err := text(after)
	if err != nil {
		return c, false, fmt.Errorf("%s: %w", k, err)
	}
	if old == now {
		return c, false, nil
	}
	c.Diff, err = difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: lines(old), B: lines(now), FromFile: side(k, before), ToFile: side(k, after), Context: context,
	})
	return c, true, err
}

// side names an object, or says that there is none, as diff does.
func side(k key, o *unstructured.Unstructured) string {
	if o == nil {
		return "/dev/null"
	}
	return k.String()
}

func text(o *unstructured.Unstructured) (string, error) {
	if o == nil {
		return "", nil
	}
	data, err := yaml.Marshal(o.Object)
	return string(data), err
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return difflib.SplitLines(strings.TrimSuffix(text, "\n"))
}
