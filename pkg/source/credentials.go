package source

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// credentialFields by their names in a file, in which case does not matter.
var credentialFields = map[string]func(c *Credentials, n *yaml.Node) error{
	"username":           func(c *Credentials, n *yaml.Node) error { return toString(&c.Username, n) },
	"password":           func(c *Credentials, n *yaml.Node) error { return toString(&c.Password, n) },
	"cabundle":           func(c *Credentials, n *yaml.Node) error { return toBytes(&c.CABundle, n) },
	"sshprivatekey":      func(c *Credentials, n *yaml.Node) error { return toBytes(&c.SSHPrivateKey, n) },
	"sshknownhosts":      func(c *Credentials, n *yaml.Node) error { return toBytes(&c.KnownHosts, n) },
	"insecureskipverify": func(c *Credentials, n *yaml.Node) error { return toBool(&c.InsecureSkipTLSVerify, n) },
	"basichttp":          func(c *Credentials, n *yaml.Node) error { return toBool(&c.BasicHTTP, n) },
}

const knownFields = "username, password, caBundle, sshPrivateKey, sshKnownHosts, insecureSkipVerify and basicHTTP"

// ReadCredentials reads a file of credentials by path, as Fleet's
// --helm-credentials-by-path-file: YAML or JSON, a map of directories, or globs of them,
// to username, password, caBundle, sshPrivateKey, sshKnownHosts (these three base64 of
// what they hold), insecureSkipVerify and basicHTTP. Errors name path, field and line,
// and never quote a value.
func ReadCredentials(data []byte) (map[string]Credentials, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("the credentials are no YAML%s", lineOf(err))
	}
	out := map[string]Credentials{}
	if doc.Kind == 0 || isNull(doc.Content[0]) {
		return out, nil
	}
	paths := doc.Content[0]
	if paths.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d of the credentials: there has to be a map of paths to credentials", paths.Line)
	}
	for i := 0; i+1 < len(paths.Content); i += 2 {
		key, value := paths.Content[i], meant(paths.Content[i+1])
		if _, twice := out[key.Value]; twice {
			return nil, fmt.Errorf("line %d of the credentials: path %q stands twice", key.Line, key.Value)
		}
		one, err := readOne(value)
		if err != nil {
			return nil, fmt.Errorf("credentials for path %q: %w", key.Value, err)
		}
		if err := one.check(); err != nil {
			return nil, fmt.Errorf("credentials for path %q: %w", key.Value, err)
		}
		out[key.Value] = one
	}
	return out, nil
}

func readOne(n *yaml.Node) (Credentials, error) {
	var out Credentials
	if isNull(n) {
		return out, nil
	}
	if n.Kind != yaml.MappingNode {
		return out, fmt.Errorf("line %d: there has to be a map of %s", n.Line, knownFields)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], meant(n.Content[i+1])
		name := strings.ToLower(key.Value)
		set, ok := credentialFields[name]
		if !ok {
			return out, fmt.Errorf("line %d: there is a field that is unknown; there are %s", key.Line, knownFields)
		}
		if seen[name] {
			return out, fmt.Errorf("line %d: %s stands twice", key.Line, key.Value)
		}
		seen[name] = true
		if isNull(value) {
			continue
		}
		if err := set(&out, value); err != nil {
			return out, fmt.Errorf("line %d: %s %w", value.Line, key.Value, err)
		}
	}
	return out, nil
}

// meant is what an alias stands for.
func meant(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func toString(to *string, n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		return errors.New("has to be a text: put it in quotes")
	}
	*to = n.Value
	return nil
}

func toBytes(to *[]byte, n *yaml.Node) error {
	var s string
	if err := toString(&s, n); err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		return errors.New("has to be base64")
	}
	*to = data
	return nil
}

func toBool(to *bool, n *yaml.Node) error {
	b, err := strconv.ParseBool(n.Value)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || err != nil {
		return errors.New("has to be true or false")
	}
	*to = b
	return nil
}

var yamlLine = regexp.MustCompile(`line \d+`)

// lineOf is all that is taken from an error of YAML, which can quote what it read.
func lineOf(err error) string {
	if line := yamlLine.FindString(err.Error()); line != "" {
		return ": look at " + line
	}
	return ""
}
