package reference

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"open-cluster-management.io/fleet-addon/pkg/cli"
)

// Write writes the page of a command and all that are below it.
func Write(out io.Writer, root *cobra.Command) error {
	p := &page{}
	p.line("# Reference of %s", root.Name())
	p.line("")
	p.line("Written from the commands by `make generate`; the same text as `--help` has. [fleetctl](fleetctl.md) is the guide.")
	p.line("")
	commands := list(root)
	p.contents(commands)
	p.exits()
	for _, cmd := range commands {
		p.command(cmd)
	}
	_, err := io.WriteString(out, strings.TrimRight(p.String(), "\n")+"\n")
	return err
}

// list returns the commands that do something or hold others, each before those below it.
func list(cmd *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{cmd}
	children := slices.Clone(cmd.Commands())
	slices.SortFunc(children, func(a, b *cobra.Command) int { return strings.Compare(a.Name(), b.Name()) })
	for _, child := range children {
		// Cobra's own help is as everywhere.
		if child.Name() != "help" && !child.Hidden {
			out = append(out, list(child)...)
		}
	}
	return out
}

type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(&p.Builder, format+"\n", args...) }

func (p *page) contents(commands []*cobra.Command) {
	p.line("| command | does |")
	p.line("| --- | --- |")
	for _, cmd := range commands {
		p.line("| [`%s`](#%s) | %s |", cmd.CommandPath(), anchor(cmd), cell(cmd.Short))
	}
	p.line("")
}

func (p *page) exits() {
	p.line("## Exit status")
	p.line("")
	p.line("| status | means |")
	p.line("| --- | --- |")
	for _, x := range cli.Exits {
		p.line("| %d | %s |", x.Status, cell(x.Means))
	}
	p.line("")
}

func (p *page) command(cmd *cobra.Command) {
	p.line("## %s", cmd.CommandPath())
	p.line("")
	p.block("text", usage(cmd))
	p.text(cmd)
	p.block("sh", unindent(cmd.Example))
	p.flags(cmd)
}

// text is the description; the root's ends in the exit statuses, which stand above.
func (p *page) text(cmd *cobra.Command) {
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	if !cmd.HasParent() {
		text, _, _ = strings.Cut(text, "\nExit status:")
	}
	p.line("%s", strings.TrimSpace(text))
	p.line("")
}

func (p *page) block(language, text string) {
	if text == "" {
		return
	}
	p.line("```%s", language)
	p.line("%s", text)
	p.line("```")
	p.line("")
}

func (p *page) flags(cmd *cobra.Command) {
	own := flagsOf(cmd.NonInheritedFlags())
	if len(own) > 0 {
		p.line("| flag | default | does |")
		p.line("| --- | --- | --- |")
		for _, f := range own {
			p.line("| %s | %s | %s |", name(f), fallback(f), cell(meaning(f)))
		}
		p.line("")
	}
	if from := inheritedFrom(cmd); from != nil {
		p.line("And the flags of [`%s`](#%s).", from.CommandPath(), anchor(from))
		p.line("")
	}
}

// inheritedFrom is the command above whose flags this one takes too; nil if there is none.
func inheritedFrom(cmd *cobra.Command) *cobra.Command {
	for above := cmd.Parent(); above != nil; above = above.Parent() {
		if len(flagsOf(above.PersistentFlags())) > 0 {
			return above
		}
	}
	return nil
}

// flagsOf are the flags that stand in the help, but the two that all commands have.
func flagsOf(set *pflag.FlagSet) []*pflag.Flag {
	var out []*pflag.Flag
	set.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" && f.Name != "version" {
			out = append(out, f)
		}
	})
	slices.SortFunc(out, func(a, b *pflag.Flag) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func usage(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() {
		return cmd.CommandPath() + " COMMAND"
	}
	return strings.TrimSpace(strings.TrimSuffix(cmd.UseLine(), "[flags]")) + " [flags]"
}

func name(f *pflag.Flag) string {
	text := "--" + f.Name
	if kind, _ := pflag.UnquoteUsage(f); kind != "" {
		text += " " + kind
	}
	if f.Shorthand != "" {
		return "`-" + f.Shorthand + "`, `" + text + "`"
	}
	return "`" + text + "`"
}

func meaning(f *pflag.Flag) string {
	_, text := pflag.UnquoteUsage(f)
	return text
}

func fallback(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "0", "0s", "[]":
		return ""
	}
	return "`" + f.DefValue + "`"
}

// cell is text as it can stand in a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

func anchor(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func unindent(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}
