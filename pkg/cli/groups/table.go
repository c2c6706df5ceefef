package groups

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// Row is one group.
type Row struct {
	// Group is "group", or "lane/group" where there are several lanes; with "[1]" and so
	// on where it is not the first of its name.
	Group, Clusters, State string
	// Left is the time until a soak or a deadline ends, rounded up; "" if none runs.
	Left string
	// Why is the sentence of what holds the group back, Reason the word for it.
	Why, Reason string
}

// Key is what of a row is news when it changes: Why can repeat what another row
// says, with its times.
func (r Row) Key() string { return strings.Join([]string{r.Clusters, r.State, r.Reason}, "|") }

// Rows makes one row for each group of each lane.
func Rows(r *v1alpha1.Rollout, now time.Time) []Row {
	var out []Row
	for _, lane := range r.Status.Lanes {
		for i := range lane.Groups {
			name := lane.Groups[i].Name
			if index := lane.Groups[i].Index; index > 0 {
				name = fmt.Sprintf("%s[%d]", name, index)
			}
			if len(r.Status.Lanes) > 1 {
				name = lane.Name + "/" + name
			}
			out = append(out, rowOf(name, &lane.Groups[i], now))
		}
	}
	return out
}

func rowOf(name string, g *v1alpha1.GroupStatus, now time.Time) Row {
	r := Row{Group: name, Clusters: strconv.Itoa(int(g.Counts.Total)), State: States(g.Counts), Reason: g.Reason}
	if g.NextAt != nil && (g.Counts.Soaking > 0 || g.Counts.Recovering > 0 || g.Counts.Progressing > 0) {
		// Rounded up: "0s left" would look like over.
		r.Left = max(0, g.NextAt.Sub(now)+time.Second-1).Truncate(time.Second).String()
	}
	switch {
	case g.Passed:
	case g.Breached:
		r.Why = "stopped: " + g.Message
	case !g.Open:
		r.Why = "held: " + g.Message
	default:
		r.Why = g.Message
	}
	r.Why = strings.TrimSuffix(r.Why, ": ")
	return r
}

// States lists the states that clusters are in, the furthest first.
func States(c v1alpha1.StateCounts) string {
	var out []string
	for _, s := range []struct {
		name  string
		count int32
	}{
		{"done", c.Done}, {"soaking", c.Soaking}, {"recovering", c.Recovering}, {"progressing", c.Progressing},
		{"pending", c.Pending}, {"timed out", c.TimedOut}, {"failed", c.Failed},
	} {
		if s.count > 0 {
			out = append(out, fmt.Sprintf("%d %s", s.count, s.name))
		}
	}
	return strings.Join(out, ", ")
}

// Table lays rows out in columns, each line cut to width; 0 cuts nothing.
func Table(rows []Row, width int) []string {
	cells := [][]string{{"GROUP", "CLUSTERS", "STATE", "LEFT", "WHY"}}
	for _, r := range rows {
		cells = append(cells, []string{r.Group, r.Clusters, r.State, r.Left, r.Why})
	}
	widths := make([]int, len(cells[0]))
	for _, line := range cells {
		for i, cell := range line {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	// The state changes all the time; a fixed width keeps the columns where they are.
	widths[2] = max(widths[2], len("1 progressing"))
	widths[3] = max(widths[3], len("1m20s"))
	var out []string
	for _, line := range cells {
		var b strings.Builder
		for i, cell := range line {
			b.WriteString(cell)
			if i < len(line)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-len([]rune(cell))+2))
			}
		}
		out = append(out, Cut(strings.TrimRight(b.String(), " "), width))
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
