package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/cli/groups"
)

// view shows a rollout while it goes on.
type view interface {
	// show is called when something changed, tick every second beside it.
	show(r *v1alpha1.Rollout, now time.Time)
	tick(r *v1alpha1.Rollout, now time.Time)
	// leave ends what was drawn, before somebody else writes to the terminal.
	leave()
}

// newView redraws in place on a terminal, and appends what changed elsewhere.
func newView(out io.Writer) view {
	if file, ok := terminalOf(out); ok && os.Getenv("TERM") != "dumb" {
		return &screen{out: out, size: func() (int, int) {
			width, height, err := term.GetSize(int(file.Fd()))
			if err != nil {
				return 0, 0
			}
			return width, height
		}}
	}
	return &log{out: out, rows: map[string]string{}}
}

// terminalOf is the terminal that a stream is, if it is one.
func terminalOf(stream any) (*os.File, bool) {
	file, ok := stream.(*os.File)
	return file, ok && term.IsTerminal(int(file.Fd()))
}

// screen draws over what it drew last.
type screen struct {
	out io.Writer
	// size is width and height of the terminal; 0 for unknown.
	size  func() (width, height int)
	drawn int
}

func (s *screen) show(r *v1alpha1.Rollout, now time.Time) {
	width, height := s.size()
	lines := fit(r, now, width, height)
	if s.drawn > 0 {
		// Up to the first line of the last drawing, and away with all below.
		fmt.Fprintf(s.out, "\x1b[%dA\x1b[J", s.drawn)
	}
	for _, line := range lines {
		fmt.Fprintln(s.out, line)
	}
	s.drawn = len(lines)
}

func (s *screen) tick(r *v1alpha1.Rollout, now time.Time) { s.show(r, now) }

func (s *screen) leave() { s.drawn = 0 }

// fit draws a rollout so that it fits the terminal: what has scrolled away cannot be
// drawn over. Groups that have passed go first.
func fit(r *v1alpha1.Rollout, now time.Time, width, height int) []string {
	lines := drawing(r, now, width)
	if height == 0 || len(lines) < height {
		return lines
	}
	waiting := r.DeepCopy()
	for i := range waiting.Status.Lanes {
		lane := &waiting.Status.Lanes[i]
		lane.Groups = slices.DeleteFunc(lane.Groups, func(g v1alpha1.GroupStatus) bool { return g.Passed })
	}
	lines = drawing(waiting, now, width)
	more := fmt.Sprintf("… the terminal is too small for all %d groups: enlarge it, or leave --watch out", countGroups(r))
	keep := max(1, height-2)
	return append(lines[:min(len(lines), keep)], groups.Cut(more, width))
}

func countGroups(r *v1alpha1.Rollout) int {
	n := 0
	for _, lane := range r.Status.Lanes {
		n += len(lane.Groups)
	}
	return n
}

// log appends a line for each thing that has changed, without any control character.
type log struct {
	out io.Writer
	// head is what the lines above the table were about; rows are the keys of groups.
	head  string
	lines []string
	rows  map[string]string
}

func (l *log) show(r *v1alpha1.Rollout, now time.Time) {
	at := now.UTC().Format("15:04:05")
	if key := headKey(r); key != l.head {
		lines := head(r)
		for _, line := range lines {
			if !slices.Contains(l.lines, line) {
				fmt.Fprintf(l.out, "%s  %s\n", at, line)
			}
		}
		l.head, l.lines = key, lines
	}
	for _, row := range groups.Rows(r, now) {
		if l.rows[row.Group] == row.Key() {
			continue
		}
		l.rows[row.Group] = row.Key()
		fmt.Fprintf(l.out, "%s  %s\n", at, sentence(row))
	}
}

func (*log) tick(*v1alpha1.Rollout, time.Time) {}

func (*log) leave() {}

// sentence is a group in a line.
func sentence(row groups.Row) string {
	line := row.Group + ": " + row.State
	if row.Left != "" {
		line += ", " + row.Left + " left"
	}
	if row.Why != "" {
		line += "; " + row.Why
	}
	return line
}

// headKey is what is news above the table when it changes; sentences are not, because
// they count clusters as the groups' lines do.
func headKey(r *v1alpha1.Rollout) string {
	s := r.Status
	parts := []string{s.Revision, s.Reason, s.Source, fmt.Sprint(s.ObservedGeneration < r.Generation)}
	for _, condition := range []string{v1alpha1.RolloutPinned, v1alpha1.RolloutWarning} {
		message, _ := isTrue(r, condition)
		parts = append(parts, message)
	}
	for _, lane := range s.Lanes {
		parts = append(parts, lane.Reason)
	}
	for _, c := range s.Confirmations {
		parts = append(parts, c.Reason+c.Subject)
	}
	return strings.Join(parts, "|")
}
