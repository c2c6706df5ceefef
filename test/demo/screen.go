package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/cli/groups"
	"open-cluster-management.io/fleet-addon/test/example"
)

// screen shows a rollout while it goes on.
type screen interface {
	// begin starts a new version.
	begin(v example.Version)
	show(v example.Version, r *v1alpha1.Rollout, now time.Time)
}

// newScreen redraws a table in place on a terminal, and prints what has changed elsewhere.
func newScreen(out *os.File) screen {
	fd := int(out.Fd())
	if term.IsTerminal(fd) && os.Getenv("TERM") != "dumb" {
		return &terminal{out: out, width: func() int {
			width, _, err := term.GetSize(fd)
			if err != nil {
				return 0
			}
			return width
		}}
	}
	return &lines{out: out}
}

func announce(out io.Writer, v example.Version) { fmt.Fprintf(out, "\n%s: %s\n", v.Name, v.About) }

// terminal draws over what it drew last.
type terminal struct {
	out   io.Writer
	width func() int
	drawn int
}

func (t *terminal) begin(v example.Version) {
	t.drawn = 0
	announce(t.out, v)
}

func (t *terminal) show(v example.Version, r *v1alpha1.Rollout, now time.Time) {
	if t.drawn > 0 {
		// Up to the first line of the last table, and away with all below.
		fmt.Fprintf(t.out, "\x1b[%dA\x1b[J", t.drawn)
	}
	width := t.width()
	drawing := append([]string{groups.Cut(title(v, r), width)}, groups.Table(groups.Rows(r, now), width)...)
	for _, line := range drawing {
		fmt.Fprintln(t.out, line)
	}
	t.drawn = len(drawing)
}

// lines prints a line for each group that has changed, without any control character.
type lines struct {
	out   io.Writer
	start time.Time
	last  map[string]string
}

func (l *lines) begin(v example.Version) {
	l.start, l.last = time.Time{}, map[string]string{}
	announce(l.out, v)
}

func (l *lines) show(v example.Version, r *v1alpha1.Rollout, now time.Time) {
	if l.start.IsZero() {
		l.start = now
	}
	for _, row := range groups.Rows(r, now) {
		if l.last[row.Group] == row.Key() {
			continue
		}
		l.last[row.Group] = row.Key()
		line := fmt.Sprintf("%s %4s  %-4s  %s", v.Name, now.Sub(l.start).Truncate(time.Second), row.Group, row.State)
		if row.Left != "" {
			line += ", " + row.Left + " left"
		}
		if row.Why != "" {
			line += "; " + row.Why
		}
		fmt.Fprintln(l.out, line)
	}
}

// title says where a version stands.
func title(v example.Version, r *v1alpha1.Rollout) string {
	s := r.Status
	line := fmt.Sprintf("%s  revision %s  %s done", v.Name, s.Revision, s.Done)
	if s.Reason != "" {
		line += "  " + s.Reason
	}
	return line
}
