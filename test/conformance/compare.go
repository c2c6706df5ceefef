package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// absent is shown for what one side does not have.
const absent = "(absent)"

// difference is one field that is not the same.
type difference struct {
	Case, Object, Field string
	Fleet, Ours         string
}

func (d difference) String() string {
	return fmt.Sprintf("%s %s\n      Fleet: %s\n      ours:  %s", d.Object, d.Field, d.Fleet, d.Ours)
}

// compare lists what is different between the objects of a case, in the order of their names.
func compare(name string, fleet, ours map[string]object) []difference {
	var all []difference
	for _, key := range union(fleet, ours) {
		f, inFleet := fleet[key]
		o, inOurs := ours[key]
		c := comparison{found: &all, Case: name, Object: key}
		switch {
		case !inOurs:
			c.tell("", "printed", absent)
		case !inFleet:
			c.tell("", absent, "printed")
		default:
			c.maps("", f, o)
		}
	}
	return all
}

// comparison collects differences of one object.
type comparison struct {
	found        *[]difference
	Case, Object string
}

func (c comparison) tell(field, fleet, ours string) {
	*c.found = append(*c.found, difference{Case: c.Case, Object: c.Object, Field: field, Fleet: fleet, Ours: ours})
}

func (c comparison) values(field string, fleet, ours any) {
	if f, ok := fleet.(map[string]any); ok {
		if o, ok := ours.(map[string]any); ok {
			c.maps(field, f, o)
			return
		}
	}
	if f, ok := fleet.([]any); ok {
		if o, ok := ours.([]any); ok {
			c.lists(field, f, o)
			return
		}
	}
	if f, o := text(fleet), text(ours); f != o {
		c.tell(field, f, o)
	}
}

func (c comparison) maps(field string, fleet, ours map[string]any) {
	for _, key := range union(fleet, ours) {
		path := key
		if field != "" {
			path = field + "." + key
		}
		f, inFleet := fleet[key]
		o, inOurs := ours[key]
		switch {
		case !inOurs:
			c.tell(path, text(f), absent)
		case !inFleet:
			c.tell(path, absent, text(o))
		default:
			c.values(path, f, o)
		}
	}
}

func (c comparison) lists(field string, fleet, ours []any) {
	for i := range max(len(fleet), len(ours)) {
		path := fmt.Sprintf("%s[%d]", field, i)
		switch {
		case i >= len(ours):
			c.tell(path, text(fleet[i]), absent)
		case i >= len(fleet):
			c.tell(path, absent, text(ours[i]))
		default:
			c.values(path, fleet[i], ours[i])
		}
	}
}

// text is a value on one line; different values have different texts.
func text(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%#v", value)
	}
	return string(data)
}

// union is the keys of both, sorted.
func union[V any](a, b map[string]V) []string {
	keys := maps.Clone(a)
	if keys == nil {
		keys = map[string]V{}
	}
	maps.Copy(keys, b)
	return slices.Sorted(maps.Keys(keys))
}
