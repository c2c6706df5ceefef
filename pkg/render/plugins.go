package render

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"regexp"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// userHost is how git's own short form begins.
var userHost = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*@`)

// isRemote tells whether Kustomize would take a path for something on the network, though
// the bundle may have a file of that name.
func isRemote(ref string) bool {
	if u, err := url.Parse(ref); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		return true
	}
	lower := strings.ToLower(ref)
	for _, prefix := range []string{"http://", "https://", "ssh://", "file://", "git::", "github.com/", "github.com:"} {
		if strings.HasPrefix(lower, prefix) {
			return true
		}
	}
	return userHost.MatchString(ref)
}

func remote(field, ref string) error {
	// A URL may hold credentials.
	if u, err := url.Parse(ref); err == nil {
		ref = u.Redacted()
	}
	return fmt.Errorf("%s: %s is elsewhere: the agent fetches nothing, so put a copy of it into the bundle's directory", field, ref)
}

// plugins are the configurations of Kustomize's own generators and transformers. In
// directories they could be made by kustomizations, which cannot be checked for URLs.
func (r *reach) plugins(dir string, k *types.Kustomization) error {
	if len(k.HelmCharts) > 0 || k.HelmGlobals != nil {
		return errors.New("helmCharts: Kustomize is not let run Helm; name the chart in helm.chart of fleet.yaml, of which the kustomization gets the objects")
	}
	for field, entries := range map[string][]string{"generators": k.Generators, "transformers": k.Transformers, "validators": k.Validators} {
		for _, entry := range entries {
			if isRemote(entry) {
				return remote(field, entry)
			}
			text := []byte(entry)
			if !isObject(text) {
				if err := r.file(field, dir, entry); err != nil {
					return err
				}
				text = r.files[path.Join(dir, entry)]
			}
			if err := r.config(dir, text); err != nil {
				return fmt.Errorf("%s: %w", field, err)
			}
		}
	}
	return nil
}

// isObject tells the text of a configuration from the name of its file.
func isObject(text []byte) bool {
	var object map[string]any
	return strings.Contains(string(text), "\n") || yaml.Unmarshal(text, &object) == nil
}

// config reads the files that a configuration names.
func (r *reach) config(dir string, text []byte) error {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		doc, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var config any
		if err := yaml.Unmarshal(doc, &config); err != nil {
			return err
		}
		if err := r.named(dir, "", config); err != nil {
			return err
		}
	}
}

// fileFields of configurations name files.
var fileFields = map[string]bool{
	"path": true, "paths": true, "files": true, "envs": true, "env": true, "targetfilepath": true,
}

// named reads the files that the fields below a value name. A path into an object stands in
// a field of that name too, so that a file is read only if it is there.
func (r *reach) named(dir, field string, value any) error {
	switch v := value.(type) {
	case map[string]any:
		for key, value := range v {
			if err := r.named(dir, strings.ToLower(key), value); err != nil {
				return err
			}
		}
	case []any:
		for _, value := range v {
			if err := r.named(dir, field, value); err != nil {
				return err
			}
		}
	case string:
		if !fileFields[field] {
			return nil
		}
		if _, file, ok := strings.Cut(v, "="); ok && field == "files" {
			v = file
		}
		if isRemote(v) {
			return remote(field, v)
		}
		if r.has(path.Join(dir, v)) {
			return r.file(field, dir, v)
		}
	}
	return nil
}
