package bundle

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// shape compares a document with the Go type that it will be decoded into, so that what
// is wrong is said with line and column. What is unknown is collected, the rest is an
// error.
type shape struct {
	file    *yamlFile
	unknown []string
	// loose are numbers and the like where a text is needed. The decoder makes texts of
	// most, and these are the reasons where it does not.
	loose []string
	// without are fields of the type that nobody may write.
	without map[string]bool
}

// oldBool is a text without quotes that the decoder takes for true or false.
var oldBool = regexp.MustCompile(`^(?i:y|yes|n|no|on|off)$`)

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// check walks a node and a type together; field is the path to it for people.
func (s *shape) check(node *yaml.Node, t reflect.Type, field string) error {
	node = follow(node)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if isNull(node) {
		return nil
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return s.opaque(node, t, field)
	}
	switch t.Kind() {
	case reflect.Struct:
		return s.object(node, t, field)
	case reflect.Map:
		if node.Kind != yaml.MappingNode {
			return s.wrong(node, field, "a map")
		}
		return s.pairs(node, func(key, value *yaml.Node) error {
			return s.check(value, t.Elem(), join(field, key.Value))
		})
	case reflect.Slice:
		if node.Kind != yaml.SequenceNode {
			return s.wrong(node, field, "a list")
		}
		for i, c := range node.Content {
			if err := s.check(c, t.Elem(), fmt.Sprintf("%s[%d]", field, i)); err != nil {
				return err
			}
		}
		return nil
	case reflect.Interface:
		return s.anything(node)
	default:
		return s.scalar(node, t, field)
	}
}

// opaque is a type that decodes itself: free values are a map, all others are texts or
// numbers.
func (s *shape) opaque(node *yaml.Node, t reflect.Type, field string) error {
	if t.Kind() == reflect.Struct && t.Name() == "GenericMap" {
		if node.Kind != yaml.MappingNode {
			return s.wrong(node, field, "a map")
		}
		return s.anything(node)
	}
	if node.Kind != yaml.ScalarNode {
		return s.wrong(node, field, "a text or a number")
	}
	return nil
}

func (s *shape) scalar(node *yaml.Node, t reflect.Type, field string) error {
	if node.Kind != yaml.ScalarNode {
		return s.wrong(node, field, words(t))
	}
	if t.Kind() == reflect.String {
		if node.Tag != "!!str" || node.Style == 0 && oldBool.MatchString(node.Value) {
			s.loose = append(s.loose, fmt.Sprintf("%s: field %q must be a text; put it in quotes", s.file.at(node), field))
		}
		return nil
	}
	if err := node.Decode(reflect.New(t).Interface()); err != nil {
		return s.wrong(node, field, words(t))
	}
	return nil
}

func words(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	default:
		return "a number"
	}
}

// anything has free keys, each once.
func (s *shape) anything(node *yaml.Node) error {
	node = follow(node)
	if node.Kind == yaml.MappingNode {
		return s.pairs(node, func(_, value *yaml.Node) error { return s.anything(value) })
	}
	for _, c := range node.Content {
		if err := s.anything(c); err != nil {
			return err
		}
	}
	return nil
}

func (s *shape) object(node *yaml.Node, t reflect.Type, field string) error {
	if node.Kind != yaml.MappingNode {
		return s.wrong(node, field, "a map")
	}
	fields := fieldsOf(t)
	spelled := map[string]string{}
	return s.pairs(node, func(key, value *yaml.Node) error {
		// Names are told apart without regard to capitals, as the decoder does.
		for name, fieldType := range fields {
			if strings.EqualFold(name, key.Value) && (field != "" || !s.without[name]) {
				if other := spelled[name]; other != "" && other != key.Value {
					return fmt.Errorf("%s: keys %q and %q are one field; remove one of them", s.file.at(key), other, key.Value)
				}
				spelled[name] = key.Value
				return s.check(value, fieldType, join(field, name))
			}
		}
		s.unknown = append(s.unknown, s.noField(key, field, fields))
		return nil
	})
}

// pairs visits each key and value of a map, those of merged maps too.
func (s *shape) pairs(node *yaml.Node, visit func(key, value *yaml.Node) error) error {
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := follow(node.Content[i]), node.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			return fmt.Errorf("%s: a key is no text", s.file.at(key))
		}
		if key.Tag == "!!merge" {
			if err := s.merged(value, visit); err != nil {
				return err
			}
			continue
		}
		if first, ok := seen[key.Value]; ok {
			return fmt.Errorf("%s: key %q stands a second time, first in line %d; remove one of them", s.file.at(key), key.Value, first.Line)
		}
		seen[key.Value] = key
		if err := visit(key, value); err != nil {
			return err
		}
	}
	return nil
}

func (s *shape) merged(value *yaml.Node, visit func(key, value *yaml.Node) error) error {
	value = follow(value)
	if value.Kind == yaml.MappingNode {
		return s.pairs(value, visit)
	}
	if value.Kind == yaml.SequenceNode {
		for _, c := range value.Content {
			if err := s.merged(c, visit); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%s: << needs a map", s.file.at(value))
}

func (s *shape) wrong(node *yaml.Node, field, want string) error {
	if field == "" {
		return fmt.Errorf("%s: the file must be a map of fields", s.file.at(node))
	}
	return fmt.Errorf("%s: field %q must be %s", s.file.at(node), field, want)
}

func (s *shape) noField(key *yaml.Node, in string, fields map[string]reflect.Type) string {
	sentence := fmt.Sprintf("%s: field %q is unknown", s.file.at(key), join(in, key.Value))
	if near := nearest(key.Value, fields, s.without); near != "" {
		sentence += fmt.Sprintf("; did you mean %q?", near)
	}
	return sentence
}

// fieldsOf returns the fields of a struct by their names in JSON, those of embedded ones
// too; the outer one wins.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	var inner []reflect.Type
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			inner = append(inner, f.Type)
		case f.IsExported() && name != "" && name != "-":
			fields[name] = f.Type
		}
	}
	for _, t := range inner {
		for name, field := range fieldsOf(t) {
			if _, ok := fields[name]; !ok {
				fields[name] = field
			}
		}
	}
	return fields
}

func join(field, name string) string {
	if field == "" {
		return name
	}
	return field + "." + name
}
