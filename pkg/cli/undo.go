package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// undoOptions are the flags of `rollout undo`.
type undoOptions struct {
	to           string
	clear, watch bool
	timeout      time.Duration
}

func newUndoCommand(flags *genericclioptions.ConfigFlags, streams genericclioptions.IOStreams) *cobra.Command {
	var o undoOptions
	cmd := &cobra.Command{
		Use:   "undo BUNDLE",
		Short: "Roll an earlier revision out again, through the same gates",
		Long: `Roll an earlier revision out again, through the same gates.

It pins the revision in the Rollout's spec: the pin holds against whatever the Bundle
says meanwhile, until --clear takes it away. Without --to-revision it is the last
completed revision or, if that one is in force, the one before.`,
		Example: `  # Back to the last revision that went through
  fleetctl rollout undo hello -n fleet-demo

  # To a revision that "fleetctl rollout history" lists, and follow it to the end
  fleetctl rollout undo hello -n fleet-demo --to-revision 3 --watch

  # Let the Bundle decide again
  fleetctl rollout undo hello -n fleet-demo --clear`,
		Args: wants("BUNDLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.clear && o.to != "" {
				return errors.New("--clear and --to-revision: one takes the pin away and the other sets it; leave one of the two out")
			}
			if err := checkTimeout(o.watch, o.timeout); err != nil {
				return err
			}
			h, err := connect(flags, args[0])
			if err != nil {
				return err
			}
			if err := undo(cmd.Context(), h, streams, o); err != nil || !o.watch {
				return err
			}
			return watchStatus(cmd.Context(), h, streams, o.timeout)
		},
	}
	cmd.Flags().StringVar(&o.to, "to-revision", "", "number or hash of the revision, as fleetctl rollout history lists them")
	suggest(cmd, "to-revision", revisionNames(flags))
	cmd.Flags().BoolVar(&o.clear, "clear", false, "take the pin away: the Bundle's own revision is rolled out again")
	addWatchFlags(cmd, &o.watch, &o.timeout, "follow the rollout afterwards, as status --watch does")
	return cmd
}

// undo pins a revision, or takes the pin away, and says what follows.
func undo(ctx context.Context, h *hub, streams genericclioptions.IOStreams, o undoOptions) error {
	r, err := h.rollout(ctx)
	if err != nil {
		return err
	}
	var lines []string
	pin := ""
	if o.clear {
		lines = clearLines(r)
	} else {
		known, err := h.revisions(ctx)
		if err != nil {
			return err
		}
		target, err := choose(r, known, o.to)
		if err != nil {
			return err
		}
		pin, lines = target.hash, pinLines(r, *target)
	}
	if r.Spec.Revision != pin {
		data, err := json.Marshal(map[string]any{"spec": map[string]any{"revision": orNull(pin)}})
		if err != nil {
			return err
		}
		if err := h.patch(ctx, r, client.RawPatch(types.MergePatchType, data)); err != nil {
			return err
		}
	}
	return printLines(streams.Out, lines)
}

// orNull is null for "", which takes a field away in a merge patch.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// choose finds the revision to pin: the one that is asked for, else the last completed
// one, else the one before that in force.
func choose(r *v1alpha1.Rollout, known []revision, asked string) (*revision, error) {
	if asked != "" {
		if found := lookup(known, asked); found != nil {
			return found, nil
		}
		return nil, fmt.Errorf("the Bundle %s/%s has no revision %q; kept are: %s", r.Namespace, r.Name, asked, list(known))
	}
	force := r.Status.Revision
	if done := r.Status.Record.CompletedRevision; done != "" && done != force {
		if found := find(known, done); found != nil {
			return found, nil
		}
	}
	at := find(known, force)
	if at == nil {
		return nil, fmt.Errorf("the revision in force of Bundle %s/%s, %q, is not among those kept: name one with --to-revision; kept are: %s", r.Namespace, r.Name, force, list(known))
	}
	var before *revision
	for i := range known {
		if known[i].number < at.number {
			before = &known[i]
		}
	}
	if before == nil {
		return nil, fmt.Errorf("no revision of Bundle %s/%s before %s is kept; kept are: %s", r.Namespace, r.Name, at, list(known))
	}
	return before, nil
}

// lookup finds a revision by its hash, else by its number: a hash can consist of digits
// only, and is longer than any number.
func lookup(known []revision, asked string) *revision {
	if found := find(known, asked); found != nil {
		return found
	}
	number, err := strconv.ParseInt(asked, 10, 64)
	if err != nil {
		return nil
	}
	for i := range known {
		if known[i].number == number {
			return &known[i]
		}
	}
	return nil
}

// list names all revisions that are kept.
func list(known []revision) string {
	if len(known) == 0 {
		return "none"
	}
	names := make([]string, 0, len(known))
	for _, k := range known {
		names = append(names, k.String())
	}
	return strings.Join(names, "; ")
}

// pinLines say what a pin does.
func pinLines(r *v1alpha1.Rollout, to revision) []string {
	name := fmt.Sprintf("Rollout %s/%s", r.Namespace, r.Name)
	first := fmt.Sprintf("%s is pinned to revision %s.", name, to)
	if r.Spec.Revision == to.hash {
		first = fmt.Sprintf("%s is pinned to revision %s already.", name, to)
	}
	lines := []string{first}
	if to.hash != r.Status.Revision {
		lines = append(lines, "It goes through the same groups and gates as any other revision, from the first group on.")
	}
	if r.Spec.Paused {
		lines = append(lines, fmt.Sprintf("The Rollout is paused: nothing happens before `fleetctl rollout resume %s -n %s`.", r.Name, r.Namespace))
	}
	return append(lines, fmt.Sprintf("The pin holds against new revisions of the Bundle until `fleetctl rollout undo %s -n %s --clear`.", r.Name, r.Namespace))
}

// clearLines say what taking the pin away does.
func clearLines(r *v1alpha1.Rollout) []string {
	name := fmt.Sprintf("Rollout %s/%s", r.Namespace, r.Name)
	if r.Spec.Revision == "" {
		return []string{name + " pins no revision."}
	}
	own := "the Bundle's own revision"
	if r.Status.BundleRevision != "" {
		own += " " + r.Status.BundleRevision
	}
	return []string{
		fmt.Sprintf("%s pins revision %s no longer.", name, r.Spec.Revision),
		fmt.Sprintf("Now %s is rolled out, through the same groups and gates.", own),
	}
}
