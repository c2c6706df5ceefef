package diff

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What stands in place of the values of a Secret. They say whether a value changes, and
// nothing that two runs, or two people, could compare.
const (
	hidden       = "(hidden)"
	hiddenBefore = "(hidden, as it was)"
	hiddenAfter  = "(hidden, changed)"
)

// lastApplied is where kubectl keeps a copy of a whole object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

func isSecret(o *unstructured.Unstructured) bool {
	return o.GroupVersionKind().Group == "" && o.GetKind() == "Secret"
}

// hide takes the values out of two versions of a Secret, of which one may be nil.
func hide(old, now *unstructured.Unstructured) {
	for _, field := range []string{"data", "stringData"} {
		hideMap(values(old, field), values(now, field))
	}
	hideMap(only(values(old, "metadata", "annotations"), lastApplied), only(values(now, "metadata", "annotations"), lastApplied))
}

// values is a map in an object, which it shares; nil if there is none.
func values(o *unstructured.Unstructured, path ...string) *part {
	if o == nil {
		return nil
	}
	at := o.Object
	for _, field := range path[:len(path)-1] {
		at, _ = at[field].(map[string]any)
	}
	last := path[len(path)-1]
	if at == nil || at[last] == nil {
		return nil
	}
	m, ok := at[last].(map[string]any)
	if !ok {
		// Not a Secret that an API server takes; nothing of it is shown all the same.
		m = map[string]any{"?": at[last]}
		at[last] = m
	}
	return &part{of: m}
}

// part is a map, or one key of it.
type part struct {
	of   map[string]any
	only string
}

func only(p *part, key string) *part {
	if p != nil {
		p.only = key
	}
	return p
}

func (p *part) get(key string) (any, bool) {
	if p == nil {
		return nil, false
	}
	v, ok := p.of[key]
	return v, ok
}

func (p *part) keys() []string {
	if p == nil {
		return nil
	}
	var out []string
	for k := range p.of {
		if p.only == "" || p.only == k {
			out = append(out, k)
		}
	}
	return out
}

func hideMap(old, now *part) {
	same := map[string]bool{}
	for _, k := range old.keys() {
		was, _ := old.get(k)
		is, ok := now.get(k)
		same[k] = ok && reflect.DeepEqual(was, is)
	}
	set := func(p *part, changed string) {
		for _, k := range p.keys() {
			_, inOld := old.get(k)
			_, inNow := now.get(k)
			if same[k] || !inOld || !inNow {
				p.of[k] = hidden
			} else {
				p.of[k] = changed
			}
		}
	}
	set(old, hiddenBefore)
	set(now, hiddenAfter)
}
