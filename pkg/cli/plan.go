package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/cli/groups"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

func newPlanCommand(flags *genericclioptions.ConfigFlags, streams genericclioptions.IOStreams) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "plan BUNDLE",
		Short: "Show what is admitted now, what is held and why, and when that changes next",
		Long: `Show what is admitted now, what is held and why, and when that changes next.

It prints the manager's last plan, from the Rollout's status. While the rollout is
paused it shows what would be admitted if it was not.`,
		Example: `  # What would happen if the bundle hello was resumed now?
  fleetctl rollout plan hello -n fleet-demo`,
		Args: wants("BUNDLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			_, r, err := open(cmd.Context(), flags, args[0])
			if err != nil {
				return err
			}
			if output != "" {
				return printData(streams.Out, planOf(r), output)
			}
			return printLines(streams.Out, planLines(r, time.Now()))
		},
	}
	addOutputFlag(cmd, &output, "json or yaml: print data instead of a table")
	return cmd
}

// planData is the manager's last plan for scripts.
type planData struct {
	Bundle   string `json:"bundle"`
	Revision string `json:"revision,omitempty"`
	// Paused is true if Admitted is what would be admitted if it was not.
	Paused   bool        `json:"paused"`
	Admitted int32       `json:"admitted"`
	Groups   []planGroup `json:"groups"`
}

type planGroup struct {
	Group    string       `json:"group"`
	Pending  int32        `json:"pending"`
	Admitted int32        `json:"admitted"`
	Clusters []string     `json:"clusters,omitempty"`
	NextLook *metav1.Time `json:"nextLook,omitempty"`
	Reason   string       `json:"reason,omitempty"`
	Message  string       `json:"message,omitempty"`
}

func planOf(r *v1alpha1.Rollout) planData {
	d := planData{
		Bundle: r.Namespace + "/" + r.Name, Revision: r.Status.Revision, Paused: r.Status.Reason == string(rollout.Paused), Groups: []planGroup{},
	}
	for _, lane := range r.Status.Lanes {
		for i := range lane.Groups {
			g := &lane.Groups[i]
			d.Admitted += g.Next
			d.Groups = append(d.Groups, planGroup{
				Group: groups.Label(r, lane.Name, g), Pending: g.Counts.Pending, Admitted: g.Next, Clusters: g.NextClusters,
				NextLook: g.NextAt, Reason: g.Reason, Message: g.Message,
			})
		}
	}
	return d
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
