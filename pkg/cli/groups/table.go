package groups

import (
	"slices"
	"strconv"
	"strings"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// column is one column of the table; rare ones are left out while no row has anything
// in them.
type column struct {
	title string
	cell  func(Row) string
	// least width, so that the columns stay where they are while numbers change.
	least int
	rare  bool
}

func count(title string, of func(v1alpha1.StateCounts) int32) column {
	return column{title: title, cell: func(r Row) string {
		if n := of(r.Counts); n > 0 {
			return strconv.Itoa(int(n))
		}
		return "-"
	}}
}

func columns() []column {
	recovering := count("RECOVERING", func(c v1alpha1.StateCounts) int32 { return c.Recovering })
	recovering.rare = true
	return []column{
		{title: "GROUP", cell: func(r Row) string { return r.Group }},
		{title: "TOTAL", cell: func(r Row) string { return r.Clusters }},
		count("DONE", func(c v1alpha1.StateCounts) int32 { return c.Done }),
		count("SOAKING", func(c v1alpha1.StateCounts) int32 { return c.Soaking }),
		recovering,
		count("PROGRESSING", func(c v1alpha1.StateCounts) int32 { return c.Progressing }),
		{title: "LEFT", cell: func(r Row) string { return r.Left }, least: len("1m20s")},
		count("FAILED", func(c v1alpha1.StateCounts) int32 { return c.Failed }),
		count("TIMED OUT", func(c v1alpha1.StateCounts) int32 { return c.TimedOut }),
		count("PENDING", func(c v1alpha1.StateCounts) int32 { return c.Pending }),
	}
}

// room is how many runes of a reason a line has to have room for; with less the
// reason gets a line of its own.
const room = 60

// Table lays rows out in columns, each line cut to width; 0 cuts nothing. LEFT is the
// time until the first soak or deadline of a group ends. Where width leaves no room
// for the reason, it stands below its group.
func Table(rows []Row, width int) []string {
	shown := slices.DeleteFunc(columns(), func(c column) bool {
		return c.rare && !slices.ContainsFunc(rows, func(r Row) bool { return c.cell(r) != "-" })
	})
	cells := make([][]string, len(rows)+1)
	for _, c := range shown {
		cells[0] = append(cells[0], c.title+strings.Repeat(" ", max(0, c.least-len(c.title))))
		for i, r := range rows {
			cells[i+1] = append(cells[i+1], c.cell(r))
		}
	}
	lines := Align(cells)
	// Every line is as wide as the first, but for trailing spaces.
	used := len([]rune(lines[0])) + len("  ")
	narrow := width > 0 && used+room > width
	if narrow {
		return below(lines, rows, width)
	}
	return beside(cells, rows, width)
}

// below puts what holds a group back under its line.
func below(lines []string, rows []Row, width int) []string {
	out := []string{Cut(lines[0], width)}
	for i, r := range rows {
		out = append(out, Cut(lines[i+1], width))
		if r.Why != "" {
			out = append(out, Cut("  "+because(r), width))
		}
	}
	return out
}

// beside puts what holds a group back behind its line.
func beside(cells [][]string, rows []Row, width int) []string {
	cells[0] = append(cells[0], "REASON")
	for i, r := range rows {
		cells[i+1] = append(cells[i+1], because(r))
	}
	lines := Align(cells)
	for i := range lines {
		lines[i] = Cut(lines[i], width)
	}
	return lines
}

// because is the word and the sentence of what holds a group back.
func because(r Row) string {
	if r.Reason == "" || r.Why == "" {
		return r.Reason + r.Why
	}
	return r.Reason + ": " + r.Why
}

// Align pads the cells of each line so that they stand below each other.
func Align(cells [][]string) []string {
	var widths []int
	for _, line := range cells {
		for i, cell := range line {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	out := make([]string, 0, len(cells))
	for _, line := range cells {
		var b strings.Builder
		for i, cell := range line {
			b.WriteString(cell)
			if i < len(line)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-len([]rune(cell))+2))
			}
		}
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	return out
}

// Cut shortens a line to width runes; 0 cuts nothing.
func Cut(line string, width int) string {
	text := []rune(line)
	if width > 0 && len(text) > width {
		return string(text[:width-1]) + "…"
	}
	return line
}
