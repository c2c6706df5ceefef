package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/cli/groups"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

func newPlanCommand(flags *genericclioptions.ConfigFlags, streams genericclioptions.IOStreams) *cobra.Command {
	return &cobra.Command{
		Use:   "plan BUNDLE",
		Short: "Show what is admitted now, what is held and why, and when that changes next",
		Long: `Show what is admitted now, what is held and why, and when that changes next.

It prints the manager's last plan, from the Rollout's status. While the rollout is
paused it shows what would be admitted if it was not.`,
		Example: `  # What would happen if the bundle hello was resumed now?
  fleetctl rollout plan hello -n fleet-demo`,
		Args: wants("BUNDLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, r, err := open(cmd.Context(), flags, args[0])
			if err != nil {
				return err
			}
			return printLines(streams.Out, planLines(r, time.Now()))
		},
	}
}

// planLines tells what a rollout does now and what it waits for.
func planLines(r *v1alpha1.Rollout, now time.Time) []string {
	lines := head(r)
	paused := r.Status.Reason == string(rollout.Paused)
	admitted := "ADMITTED NOW"
	if paused {
		admitted = "IF RESUMED"
	}
	cells := [][]string{{"GROUP", "PENDING", admitted, "NEXT LOOK", "REASON"}}
	total := int32(0)
	for _, lane := range r.Status.Lanes {
		for i := range lane.Groups {
			g := &lane.Groups[i]
			total += g.Next
			cells = append(cells, []string{groups.Label(r, lane.Name, g), number(g.Counts.Pending), next(g), at(g, now), stop(g)})
		}
	}
	if len(cells) > 1 {
		lines = append(append(lines, ""), groups.Align(cells)...)
	}
	if more := omitted(r); more != "" {
		lines = append(lines, more)
	}
	return append(lines, "", verdict(r, total, paused), soonest(r, now))
}

// verdict is the plan in a sentence.
func verdict(r *v1alpha1.Rollout, admitted int32, paused bool) string {
	_, complete := isTrue(r, v1alpha1.RolloutComplete)
	switch {
	case paused && admitted > 0:
		return fmt.Sprintf("Nothing is admitted while paused; resumed now, the rollout would admit %s.", plural(int(admitted)))
	case paused:
		return "Nothing is admitted while paused; resumed now, the rollout would admit nothing either."
	case admitted > 0:
		return fmt.Sprintf("%s: admitted now.", plural(int(admitted)))
	case complete:
		return "Nothing is left to admit: every selected cluster is done."
	}
	return "Nothing is admitted now."
}

// soonest is when time alone changes something first.
func soonest(r *v1alpha1.Rollout, now time.Time) string {
	var first *v1alpha1.GroupStatus
	label := ""
	for _, lane := range r.Status.Lanes {
		for i := range lane.Groups {
			g := &lane.Groups[i]
			if g.NextAt != nil && g.NextAt.After(now) && (first == nil || g.NextAt.Before(first.NextAt)) {
				first, label = g, groups.Label(r, lane.Name, g)
			}
		}
	}
	if first == nil {
		return "No soak and no deadline runs: the next change comes from a cluster, or from somebody."
	}
	return fmt.Sprintf("Next: %s, when a soak or a deadline in group %s ends.", clock(first.NextAt.Time, now), label)
}

// next lists the clusters that are admitted now.
func next(g *v1alpha1.GroupStatus) string {
	if g.Next == 0 {
		return "-"
	}
	text := number(g.Next)
	if len(g.NextClusters) == 0 {
		return text
	}
	const most = 5
	names := slices.Clone(g.NextClusters[:min(most, len(g.NextClusters))])
	if n := int(g.Next) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	return text + " (" + strings.Join(names, ", ") + ")"
}

func at(g *v1alpha1.GroupStatus, now time.Time) string {
	if g.NextAt == nil || !g.NextAt.After(now) {
		return "-"
	}
	return "in " + groups.Left(g.NextAt.Time, now)
}

// stop is why the group's pending clusters wait.
func stop(g *v1alpha1.GroupStatus) string {
	switch {
	case g.Message == "":
		return g.Reason
	case g.Reason == "":
		return g.Message
	}
	return g.Reason + ": " + g.Message
}

func number(n int32) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(int(n))
}

func plural(n int) string {
	if n == 1 {
		return "1 cluster"
	}
	return fmt.Sprintf("%d clusters", n)
}
