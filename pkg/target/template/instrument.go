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
)

// instrument makes a tree count: at the start of every pass of a loop, and around every
// template that another one calls. Nothing else in a template can run more than once.
func instrument(tree *parse.Tree, top bool) {
	if tree.Root == nil {
		return
	}
	visit(tree.Root, func(n parse.Node) {
		if loop, ok := n.(*parse.RangeNode); ok && loop.List != nil {
			loop.List.Nodes = append([]parse.Node{counter(loop.Pos, stepName, size(loop.List))}, loop.List.Nodes...)
		}
	})
	if !top {
		root := tree.Root
		root.Nodes = append([]parse.Node{counter(root.Pos, enterName, size(root))}, root.Nodes...)
		root.Nodes = append(root.Nodes, counter(root.Pos, leaveName, 0))
	}
}

func size(n parse.Node) int {
	count := 0
	visit(n, func(parse.Node) { count++ })
	return count
}

// counter calls a counting function, which writes nothing.
func counter(pos parse.Pos, fn string, n int) parse.Node {
	args := []parse.Node{parse.NewIdentifier(fn).SetPos(pos)}
	if n > 0 {
		args = append(args, &parse.NumberNode{NodeType: parse.NodeNumber, Pos: pos, IsInt: true, Int64: int64(n), Text: strconv.Itoa(n)})
	}
	command := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pos, Args: args}
	pipe := &parse.PipeNode{NodeType: parse.NodePipe, Pos: pos, Cmds: []*parse.CommandNode{command}}
	return &parse.ActionNode{NodeType: parse.NodeAction, Pos: pos, Pipe: pipe}
}
