package cli

import (
	"fmt"
	"strings"

	"open-cluster-management.io/fleet-addon/pkg/cli/diff"
)

// diffData is what `diff` prints.
type diffData struct {
	Bundle string `json:"bundle"`
	// To is what the clusters are compared with.
	To     string       `json:"to"`
	Groups []diff.Group `json:"groups"`
}

// outcome is the exit status: what could not be told counts most.
func (d *diffData) outcome() error {
	failed, differs := 0, false
	for i := range d.Groups {
		if d.Groups[i].Error != "" {
			failed += len(d.Groups[i].Clusters)
		}
		differs = differs || d.Groups[i].Differs()
	}
	switch {
	case failed > 0:
		return fmt.Errorf("what changes on %s could not be told", plural(failed))
	case differs:
		return exitNo
	}
	return nil
}

func (d *diffData) lines() []string {
	out := []string{fmt.Sprintf("Bundle %s: what is deployed, against %s", d.Bundle, d.To)}
	if len(d.Groups) == 0 {
		out = append(out, "No cluster has the bundle.")
	}
	for i := range d.Groups {
		out = append(out, "")
		out = append(out, groupLines(&d.Groups[i])...)
	}
	return out
}

func groupLines(g *diff.Group) []string {
	out := []string{fmt.Sprintf("%s: %s", plural(len(g.Clusters)), some(g.Clusters))}
	switch {
	case g.Error != "":
		return append(out, "cannot be told: "+g.Error)
	case !g.Differs():
		return append(out, "nothing changes")
	case g.From == "":
		out = append(out, fmt.Sprintf("nothing of the bundle is there; release %s comes", g.To))
	case g.To == "":
		out = append(out, fmt.Sprintf("no target selects it any more; release %s goes", g.From))
	case g.From != g.To:
		out = append(out, fmt.Sprintf("release %s goes, and %s comes", g.From, g.To))
	}
	out = append(out, counts(g.Changes))
	for _, c := range g.Changes {
		out = append(out, strings.Split(strings.TrimSuffix(c.Diff, "\n"), "\n")...)
	}
	return out
}

// counts says how many objects are changed, added and removed.
func counts(changes []diff.Change) string {
	n := map[diff.Verb]int{}
	for _, c := range changes {
		n[c.Verb]++
	}
	return fmt.Sprintf("objects: %d changed, %d added, %d removed", n[diff.Changed], n[diff.Added], n[diff.Removed])
}

// some names the first of many clusters.
func some(names []string) string {
	const most = 10
	text := strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}
