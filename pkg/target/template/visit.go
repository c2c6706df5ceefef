package template

import "text/template/parse"

// visit calls fn for a node and for all below it, in the order of the text.
func visit(n parse.Node, fn func(parse.Node)) {
	if n == nil {
		return
	}
	fn(n)
	for _, below := range children(n) {
		visit(below, fn)
	}
}

func children(n parse.Node) []parse.Node {
	switch n := n.(type) {
	case *parse.ListNode:
		return n.Nodes
	case *parse.ActionNode:
		return []parse.Node{n.Pipe}
	case *parse.PipeNode:
		return pipe(n)
	case *parse.CommandNode:
		return n.Args
	case *parse.ChainNode:
		return []parse.Node{n.Node}
	case *parse.IfNode:
		return branch(&n.BranchNode)
	case *parse.RangeNode:
		return branch(&n.BranchNode)
	case *parse.WithNode:
		return branch(&n.BranchNode)
	case *parse.TemplateNode:
		if n.Pipe != nil {
			return []parse.Node{n.Pipe}
		}
	}
	return nil
}

func pipe(n *parse.PipeNode) []parse.Node {
	out := make([]parse.Node, 0, len(n.Cmds))
	for _, c := range n.Cmds {
		out = append(out, c)
	}
	return out
}

func branch(n *parse.BranchNode) []parse.Node {
	out := []parse.Node{n.Pipe}
	if n.List != nil {
		out = append(out, n.List)
	}
	if n.ElseList != nil {
		out = append(out, n.ElseList)
	}
	return out
}
