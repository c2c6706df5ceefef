package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// commitLabel names the commit that a bundle was read at.
const commitLabel = "fleet.cattle.io/commit"

// object is one printed object, with its files by their names.
type object map[string]any

// parse reads printed objects and names them.
func parse(data []byte) (map[string]object, error) {
	objects := map[string]object{}
	for _, document := range documents(string(data)) {
		asJSON, err := yaml.YAMLToJSON([]byte(document))
		if err != nil {
			return nil, err
		}
		// As they are written: a float cannot hold every number.
		decoder := json.NewDecoder(bytes.NewReader(asJSON))
		decoder.UseNumber()
		var o object
		if err := decoder.Decode(&o); err != nil {
			return nil, err
		}
		name := o.name()
		if _, twice := objects[name]; twice {
			return nil, fmt.Errorf("%s is there twice", name)
		}
		if err := o.normalize(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		objects[name] = o
	}
	return objects, nil
}

// documents splits text into objects. Fleet prints several bundles with nothing between them, so that a new one begins
// where apiVersion stands at the start of a line once more, too.
func documents(text string) []string {
	var all []string
	var current strings.Builder
	versioned := false
	end := func() {
		if strings.TrimSpace(current.String()) != "" {
			all = append(all, current.String())
		}
		current.Reset()
		versioned = false
	}
	for line := range strings.Lines(text) {
		switch {
		case strings.TrimRight(line, " \r\n") == "---":
			end()
			continue
		case strings.HasPrefix(line, "apiVersion:"):
			if versioned {
				end()
			}
			versioned = true
		}
		current.WriteString(line)
	}
	end()
	return all
}

// name is KIND NAMESPACE/NAME.
func (o object) name() string {
	metadata, _ := o["metadata"].(map[string]any)
	return fmt.Sprintf("%v %v/%v", o["kind"], metadata["namespace"], metadata["name"])
}

// normalize leaves out the commit and keeps files by their names.
func (o object) normalize() error {
	metadata, _ := o["metadata"].(map[string]any)
	if labels, ok := metadata["labels"].(map[string]any); ok {
		delete(labels, commitLabel)
		if len(labels) == 0 {
			delete(metadata, "labels")
		}
	}
	spec, _ := o["spec"].(map[string]any)
	files, ok := spec["resources"].([]any)
	if !ok {
		return nil
	}
	byName := map[string]any{}
	for _, file := range files {
		fields, _ := file.(map[string]any)
		name, ok := fields["name"].(string)
		if !ok {
			return fmt.Errorf("a file of spec.resources has no name: %v", file)
		}
		if _, twice := byName[name]; twice {
			return fmt.Errorf("file %s is there twice", name)
		}
		byName[name] = fields
	}
	spec["resources"] = byName
	return nil
}
