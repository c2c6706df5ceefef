package template

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	texttemplate "text/template"
	"text/template/parse"
)

// The delimiters are Fleet's: { and [ mean something to YAML.
const left, right = "${", "}"

// Has tells whether a text has a template in it.
func Has(text string) bool { return strings.Contains(text, left) }

// name of every template; those that `define` adds have names of their own.
const name = "values"

// Template is one that was parsed. It can be executed by several at once.
type Template struct {
	trees map[string]*parse.Tree
	// functions that it calls.
	functions []string
	uses      Uses
	machines  sync.Pool
}

// Parse reads a template. An error is an *Error.
func Parse(text string) (*Template, error) {
	if len(text) > MaxSource {
		return nil, &Error{Reason: fmt.Sprintf("is longer than %d bytes", MaxSource)}
	}
	trees, err := parse.Parse(name, text, left, right, known)
	if err != nil {
		return nil, parseError(err)
	}
	t := &Template{trees: trees}
	called := map[string]bool{}
	for _, tree := range trees {
		if tree.Root == nil {
			continue
		}
		if err := t.look(tree, called); err != nil {
			return nil, err
		}
	}
	for fn := range called {
		if functions[fn] != nil {
			t.functions = append(t.functions, fn)
		}
	}
	slices.Sort(t.functions)
	t.uses = usesOf(trees)
	for _, tree := range trees {
		instrument(tree)
	}
	t.machines.New = func() any { return t.machine() }
	return t, nil
}

// look notes the functions that a tree calls; a forbidden one is an error.
func (t *Template) look(tree *parse.Tree, called map[string]bool) error {
	var found *Error
	visit(tree.Root, func(n parse.Node) {
		id, ok := n.(*parse.IdentifierNode)
		if !ok {
			return
		}
		called[id.Ident] = true
		if why := forbidden[id.Ident]; why != "" && found == nil {
			found = &Error{Line: lineOf(tree, n), Reason: fmt.Sprintf("calls %s, which is not allowed: %s", id.Ident, why)}
		}
	})
	if found != nil {
		return found
	}
	return nil
}

func lineOf(tree *parse.Tree, n parse.Node) int {
	location, _ := tree.ErrorContext(n)
	line, _ := position(location)
	return line
}

// machine executes a template, one execution at a time.
type machine struct {
	budget   budget
	template *texttemplate.Template
}

func (t *Template) machine() *machine {
	m := &machine{}
	calls := texttemplate.FuncMap{
		stepName:  func(n int) string { m.budget.spend(float64(n)); return "" },
		enterName: m.budget.enter,
		leaveName: func() string { m.budget.depth--; return "" },
		showName:  m.budget.show,
	}
	for _, fn := range t.functions {
		calls[fn] = guarded(fn, functions[fn], &m.budget)
	}
	m.template = texttemplate.New(name).Option("missingkey=error").Funcs(calls)
	for _, tree := range t.trees {
		// Trees that were parsed can be added.
		m.template = texttemplate.Must(m.template.AddParseTree(tree.Name, tree))
	}
	m.template = m.template.Lookup(name)
	return m
}

func (b *budget) enter(n int) string {
	if b.depth++; b.depth > MaxDepth {
		panic(errDepth)
	}
	b.spend(float64(n))
	return ""
}

// show lets a value be written that is not too large for that.
func (b *budget) show(value any) any {
	b.spend(float64(measure(reflect.ValueOf(&value).Elem())) / 1024)
	return value
}
