package template

import (
	"slices"
	"text/template/parse"
)

// Uses says what of its context a template can look at.
type Uses struct {
	// Everything is true when it can look at all of it.
	Everything bool
	// Paths are what it looks at: the name of something in the context, and then the key
	// in that, where it is certain that no other one counts.
	Paths [][2]string
}

// Uses says what of its context the template can look at; more than that where in doubt.
func (t *Template) Uses() Uses { return t.uses }

func usesOf(trees map[string]*parse.Tree) Uses {
	r := reader{found: map[[2]string]bool{}}
	for _, tree := range trees {
		if tree.Root != nil {
			// What a template is called with, its caller looks at.
			r.read(tree.Root, tree.Name == name)
		}
	}
	u := Uses{Everything: r.everything}
	for path := range r.found {
		u.Paths = append(u.Paths, path)
	}
	slices.SortFunc(u.Paths, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	return u
}

type reader struct {
	everything bool
	found      map[[2]string]bool
}

// read notes what a node looks at; atRoot tells whether the dot is the whole context.
func (r *reader) read(n parse.Node, atRoot bool) {
	switch n := n.(type) {
	case *parse.DotNode:
		r.everything = r.everything || atRoot
	case *parse.VariableNode:
		if n.Ident[0] == "$" {
			r.path(n.Ident[1:])
		}
	case *parse.FieldNode:
		r.path(n.Ident)
	case *parse.CommandNode:
		r.command(n, atRoot)
	case *parse.RangeNode:
		r.below(&n.BranchNode, atRoot)
	case *parse.WithNode:
		r.below(&n.BranchNode, atRoot)
	default:
		for _, below := range children(n) {
			r.read(below, atRoot)
		}
	}
}

// below a range or with the dot is what they were given.
func (r *reader) below(n *parse.BranchNode, atRoot bool) {
	r.read(n.Pipe, atRoot)
	r.read(n.List, false)
	if n.ElseList != nil {
		r.read(n.ElseList, atRoot)
	}
}

// path notes a chain of names from the context. Where the dot is something else it notes
// too much, which does no harm.
func (r *reader) path(names []string) {
	switch len(names) {
	case 0:
		r.everything = true
	case 1:
		r.found[[2]string{names[0], ""}] = true
	default:
		r.found[[2]string{names[0], names[1]}] = true
	}
}

// command knows the functions that look at one key: `index .ClusterLabels "key"`.
func (r *reader) command(n *parse.CommandNode, atRoot bool) {
	if len(n.Args) >= 3 {
		fn, isFunction := n.Args[0].(*parse.IdentifierNode)
		field, isField := n.Args[1].(*parse.FieldNode)
		key, isText := n.Args[2].(*parse.StringNode)
		if isFunction && isField && isText && len(field.Ident) == 1 && (fn.Ident == "index" || fn.Ident == "get" || fn.Ident == "hasKey") {
			r.found[[2]string{field.Ident[0], key.Text}] = true
			for _, arg := range n.Args[3:] {
				r.read(arg, atRoot)
			}
			return
		}
	}
	for _, arg := range n.Args {
		r.read(arg, atRoot)
	}
}
