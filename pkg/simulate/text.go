package simulate

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// TextOptions say what of a report is written.
type TextOptions struct {
	NoTimeline bool
	// Full writes every line of the timeline, not one for a run of the same.
	Full bool
}

// Write writes the report as text.
func (r *Report) Write(out io.Writer, o TextOptions) error {
	w := &lines{}
	w.add("%s  revision %s  by %s  %s", r.Bundle, r.Revision, r.Source, plural(r.Clusters, "cluster"))
	for _, note := range r.Notes {
		w.add("Note: %s", note)
	}
	if time.Duration(r.Step) > fineStep {
		w.add("Note: all times are rounded up to %s; --step %s is finer, and takes longer in a large fleet", r.Step, fineStep)
	}
	for _, warning := range r.Warnings {
		w.add("Warning: %s", warning)
	}
	w.add("")
	if !o.NoTimeline {
		r.writeTimeline(w, o.Full)
	}
	r.writeGroups(w)
	for _, l := range r.LeftOut {
		w.add("Left as they are: %d (%s), %s: %s", l.Count, l.Reason, namesOf(l.Count, l.Clusters), l.Sentence)
	}
	r.writeDown(w)
	w.add("%s", r.Headline())
	_, err := io.WriteString(out, w.text.String())
	return err
}

// lines collects text.
type lines struct{ text strings.Builder }

func (l *lines) add(format string, args ...any) { fmt.Fprintf(&l.text, format+"\n", args...) }

// table writes rows in columns, without blanks at the ends of lines.
func (l *lines) table(rows [][]string) {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // into memory
	for line := range strings.Lines(text.String()) {
		l.add("%s", strings.TrimRight(line, " \n"))
	}
}

func (r *Report) writeTimeline(w *lines, full bool) {
	runs := make([]run, len(r.Timeline))
	for i, e := range r.Timeline {
		runs[i] = run{e, e.At, 1, e.Count}
	}
	if !full {
		runs = merge(runs)
	}
	several := manyLanes(r.Groups)
	rows := [][]string{{"TIME", "GROUP", "WHAT"}}
	for i := range runs {
		e := &runs[i]
		where := e.Group
		if several && e.Lane != "" {
			where = strings.TrimSuffix(e.Lane+"/"+e.Group, "/")
		}
		at := e.At.String()
		if e.to > e.At {
			at += ".." + e.to.String()
		}
		rows = append(rows, []string{at, where, e.text()})
	}
	w.table(rows)
	if len(runs) < len(r.Timeline) {
		w.add("(a run of the same in a group is one line; --full shows all %d lines)", len(r.Timeline))
	}
	w.add("")
}

// run is an entry, or steps of the same put together.
type run struct {
	Entry
	to Duration
	// most is the largest count of a step.
	steps, most int
}

// repeated are told again and again while a group is under way.
var repeated = []What{Admitted, Newcomer, Ready, Done}

// merge puts together what is repeated in a group between two lines that tell
// something else of it, or of the rollout.
func merge(in []run) []run {
	type key struct {
		lane, group string
		what        What
	}
	var out []run
	open := map[key]int{}
	for _, e := range in {
		k := key{e.Lane, e.Group, e.What}
		switch i, running := open[k]; {
		case !slices.Contains(repeated, e.What):
			for _, what := range repeated {
				delete(open, key{e.Lane, e.Group, what})
			}
			if e.Group == "" {
				clear(open)
			}
		case running:
			o := &out[i]
			o.Count, o.to, o.steps, o.most = o.Count+e.Count, e.to, o.steps+1, max(o.most, e.most)
			if len(o.Clusters) < maxNames {
				o.Clusters = slices.Concat(o.Clusters, e.Clusters)
			}
			continue
		default:
			open[k] = len(out)
		}
		out = append(out, e)
	}
	return out
}

func (e *run) text() string {
	text := string(e.What)
	switch {
	case e.What == Commit:
		return text + " " + e.Why
	case len(e.Clusters) > 0:
		text += fmt.Sprintf(" %d", e.Count)
		if e.steps > 1 && e.What == Admitted {
			text += fmt.Sprintf(" in %d steps of at most %d", e.steps, e.most)
		}
		text += ": " + namesOf(e.Count, e.Clusters)
	case e.What == Opened:
		text += ", " + plural(e.Count, "cluster")
	}
	if e.Why != "" && e.What != Passed {
		text += ": " + e.Why
	}
	return text
}

func (r *Report) writeGroups(w *lines) {
	if len(r.Groups) == 0 {
		return
	}
	several := manyLanes(r.Groups)
	rows := [][]string{{"GROUP", "CLUSTERS", "OPENED", "PASSED", "MOST UPDATING", "STATE"}}
	for i := range r.Groups {
		g := &r.Groups[i]
		name := g.Name
		if several {
			name = g.Lane + "/" + g.Name
		}
		rows = append(rows, []string{name, fmt.Sprint(g.Counts.Total), moment(g.OpenedAt), moment(g.PassedAt), fmt.Sprint(g.WorstUpdating), g.Sentence})
	}
	w.table(rows)
	w.add("")
}

func moment(d *Duration) string {
	if d == nil {
		return "-"
	}
	return d.String()
}

func manyLanes(groups []Group) bool {
	for i := range groups {
		if groups[i].Lane != groups[0].Lane {
			return true
		}
	}
	return false
}

func (r *Report) writeDown(w *lines) {
	w.add("Most clusters down at once:")
	w.table([][]string{
		{"  updating", r.Down.Updating.text(), "admitted, was ready before, not ready yet or failed"},
		{"  with offline", r.Down.Total.text(), "these, and clusters offline where it was ready before"},
		{"  installing", r.Down.Installing.text(), "admitted for the first time and never ready yet; nothing was there to go down"},
	})
}

func (p *Peak) text() string {
	if p.Count == 0 {
		return "0"
	}
	text := fmt.Sprintf("%d at %s", p.Count, p.At)
	if p.Group != "" {
		text += fmt.Sprintf(", %d of them in %s", p.InGroup, p.Group)
	}
	return text
}

// Headline is the end in one line.
func (r *Report) Headline() string {
	c := r.Counts
	text := fmt.Sprintf("%s after %s: %d of %d done", strings.ToUpper(string(r.End[:1]))+string(r.End[1:]), r.At, c.Done, c.Total)
	if n := c.Failed + c.TimedOut + c.Recovering; n > 0 {
		text += fmt.Sprintf(", %d failed", n)
	}
	text += fmt.Sprintf(", at most %d updating at once", r.Down.Updating.Count)
	if r.End == EndHeld {
		text += "; nothing changes any more by itself"
	}
	if r.End != EndComplete && r.Reason != rollout.Complete {
		text += ". " + string(r.Reason) + ": " + r.Sentence
	}
	return text
}

// namesOf are the first names and how many more there are.
func namesOf(count int, names []string) string {
	names = names[:min(maxNames, len(names))]
	text := strings.Join(names, ", ")
	if more := count - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
