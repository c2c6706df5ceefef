package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

const (
	// maxNodes is how many values a document may have once its aliases are followed.
	maxNodes = 100_000
	// maxScalars is how many bytes its texts may have together, then.
	maxScalars = 4 << 20
	// maxNesting is how deep its values may stand in one another.
	maxNesting = 100
)

// yamlFile is a YAML document that was checked and whose lines are known.
type yamlFile struct {
	// shown is the path for people.
	shown string
	data  []byte
	// root is the value of the first document; nil if there is none.
	root *yaml.Node
	// second is where another document begins, which nothing reads.
	second *yaml.Node
}

// parseYAML reads the first document. Errors name file and line and never show a value.
func parseYAML(shown string, data []byte) (*yamlFile, error) {
	f := &yamlFile{shown: shown, data: data}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for _, node := range []**yaml.Node{&f.root, &f.second} {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: it is no YAML: %w", shown, err)
		}
		if len(doc.Content) == 1 && !isNull(doc.Content[0]) {
			*node = doc.Content[0]
		}
	}
	if f.root == nil {
		return f, nil
	}
	b := bounds{file: f}
	return f, b.count(f.root, 0)
}

// at is the place of a node, "FILE:LINE:COLUMN".
func (f *yamlFile) at(n *yaml.Node) string {
	if n == nil {
		return f.shown
	}
	return fmt.Sprintf("%s:%d:%d", f.shown, n.Line, n.Column)
}

// find returns where the value at a path of names and numbers stands, or the last part of
// the path that is there.
func (f *yamlFile) find(steps ...any) string {
	node := f.root
	for _, step := range steps {
		next := child(follow(node), step)
		if next == nil {
			break
		}
		node = next
	}
	return f.at(node)
}

func child(node *yaml.Node, step any) *yaml.Node {
	switch step := step.(type) {
	case string:
		if node == nil || node.Kind != yaml.MappingNode {
			return nil
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i+1]
			}
		}
	case int:
		if node != nil && node.Kind == yaml.SequenceNode && step < len(node.Content) {
			return node.Content[step]
		}
	}
	return nil
}

// follow returns what an alias stands for.
func follow(node *yaml.Node) *yaml.Node {
	for node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

// bounds counts what a document becomes once its aliases are followed: a few lines can
// become gigabytes.
type bounds struct {
	file           *yamlFile
	nodes, scalars int
}

func (b *bounds) count(node *yaml.Node, depth int) error {
	node = follow(node)
	b.nodes++
	b.scalars += len(node.Value)
	switch {
	case depth > maxNesting:
		return fmt.Errorf("%s: %w: values stand more than %d deep in one another", b.file.at(node), ErrTooLarge, maxNesting)
	case b.nodes > maxNodes:
		return fmt.Errorf("%s: %w: there are more than %d values once the aliases are followed", b.file.at(node), ErrTooLarge, maxNodes)
	case b.scalars > maxScalars:
		return fmt.Errorf("%s: %w: there is more than %s of text once the aliases are followed", b.file.at(node), ErrTooLarge, size(maxScalars))
	}
	for _, c := range node.Content {
		if err := b.count(c, depth+1); err != nil {
			return err
		}
	}
	return nil
}
