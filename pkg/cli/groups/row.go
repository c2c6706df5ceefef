package groups

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// Row is one group.
type Row struct {
	// Group is "group", or "lane/group" where there are several lanes; with "[1]" and so
	// on where it is not the first of its name.
	Group, Clusters, State string
	// Counts are the clusters by state.
	Counts v1alpha1.StateCounts
	// Left is the time until the first soak or deadline ends, rounded up; "" if none runs.
	Left string
	// Why is the sentence of what holds the group back, Reason the word for it.
	Why, Reason string
	// Passed is true for a group that nobody waits for.
	Passed bool
}

// Key is what of a row is news when it changes: Why can repeat what another row
// says, with its times.
func (r Row) Key() string { return strings.Join([]string{r.Clusters, r.State, r.Reason}, "|") }

// Rows makes one row for each group of each lane.
func Rows(r *v1alpha1.Rollout, now time.Time) []Row {
	var out []Row
	for _, lane := range r.Status.Lanes {
		for i := range lane.Groups {
			out = append(out, rowOf(Label(r, lane.Name, &lane.Groups[i]), &lane.Groups[i], now))
		}
	}
	return out
}

// Label is the name of a group as Row has it.
func Label(r *v1alpha1.Rollout, lane string, g *v1alpha1.GroupStatus) string {
	name := rollout.PlaceOf(lane, g).Label()
	if len(r.Status.Lanes) > 1 {
		return lane + "/" + name
	}
	return name
}

func rowOf(name string, g *v1alpha1.GroupStatus, now time.Time) Row {
	r := Row{Group: name, Clusters: strconv.Itoa(int(g.Counts.Total)), State: States(g.Counts), Counts: g.Counts, Reason: g.Reason, Passed: g.Passed}
	if g.NextAt != nil && (g.Counts.Soaking > 0 || g.Counts.Recovering > 0 || g.Counts.Progressing > 0) {
		r.Left = Left(g.NextAt.Time, now)
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

// Left is the time from now to t, rounded up: "0s left" would look like over.
func Left(t, now time.Time) string {
	return max(0, t.Sub(now)+time.Second-1).Truncate(time.Second).String()
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
