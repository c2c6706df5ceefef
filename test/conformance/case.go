package main

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// testCase is one folder of the data.
type testCase struct {
	// Name is the folder's.
	Name string `json:"name"`
	// Args of the command line, which runs in the folder's input.
	Args []string `json:"args"`
	// Exit is the status that Fleet's command ended with.
	Exit int `json:"exit"`

	dir string
}

// cases reads all cases below a folder, in the order of their names.
func cases(dir string) ([]testCase, error) {
	files, err := filepath.Glob(filepath.Join(dir, "bundles", "*", "case.yaml"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no bundles/CASE/case.yaml: give the folder that has `bundles` in it", dir)
	}
	var all []testCase
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var c testCase
		if err := yaml.UnmarshalStrict(data, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		c.dir = filepath.Dir(file)
		if base := filepath.Base(c.dir); c.Name != base {
			return nil, fmt.Errorf("%s: name is %q, want that of its folder, %q", file, c.Name, base)
		}
		all = append(all, c)
	}
	return all, nil
}

// expected reads what Fleet printed.
func (c testCase) expected() (map[string]object, error) {
	file := filepath.Join(c.dir, "expected.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	objects, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return objects, nil
}
