package template

import (
	"strconv"
	"text/template/parse"
)

// The functions that count. Nobody can call them: they are not there while a text is
// parsed.
const (
	stepName  = "fleetStep"
	enterName = "fleetEnter"
	leaveName = "fleetLeave"
	showName  = "fleetShow"
)

// instrument makes a tree count: at the start of every pass of a loop, and around every
// template, as each can call itself, the one at the top too. Nothing else in a template
// can run more than once. What is written is measured once more: it can have grown in
// another value that it is a part of.
func instrument(tree *parse.Tree) {
	if tree.Root == nil {
		return
	}
	visit(tree.Root, func(n parse.Node) {
		if action, ok := n.(*parse.ActionNode); ok && len(action.Pipe.Decl) == 0 {
			action.Pipe.Cmds = append(action.Pipe.Cmds, command(action.Pos, showName))
		}
	})
	visit(tree.Root, func(n parse.Node) {
		if loop, ok := n.(*parse.RangeNode); ok && loop.List != nil {
			loop.List.Nodes = append([]parse.Node{counter(loop.Pos, stepName, size(loop.List))}, loop.List.Nodes...)
		}
	})
	root := tree.Root
	root.Nodes = append([]parse.Node{counter(root.Pos, enterName, size(root))}, root.Nodes...)
	root.Nodes = append(root.Nodes, counter(root.Pos, leaveName, 0))
}

func size(n parse.Node) int {
	count := 0
	visit(n, func(parse.Node) { count++ })
	return count
}

// counter calls a counting function, which writes nothing.
func counter(pos parse.Pos, fn string, n int) parse.Node {
	call := command(pos, fn)
	if n > 0 {
		call.Args = append(call.Args, &parse.NumberNode{NodeType: parse.NodeNumber, Pos: pos, IsInt: true, Int64: int64(n), Text: strconv.Itoa(n)})
	}
	pipe := &parse.PipeNode{NodeType: parse.NodePipe, Pos: pos, Cmds: []*parse.CommandNode{call}}
	return &parse.ActionNode{NodeType: parse.NodeAction, Pos: pos, Pipe: pipe}
}

func command(pos parse.Pos, fn string) *parse.CommandNode {
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pos, Args: []parse.Node{parse.NewIdentifier(fn).SetPos(pos)}}
}
