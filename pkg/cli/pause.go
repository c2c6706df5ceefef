package cli

import (
	"context"
	"fmt"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

func newPauseCommand(flags *genericclioptions.ConfigFlags, streams genericclioptions.IOStreams) *cobra.Command {
	return &cobra.Command{
		Use:   "pause BUNDLE",
		Short: "Admit nothing more and remove nothing until the rollout is resumed",
		Long: `Admit nothing more and remove nothing until the rollout is resumed.

What is under way on clusters goes on, and no deadline runs.`,
		Example: `  # Stop the bundle hello where it is
  fleetctl rollout pause hello -n fleet-demo`,
		Args: wants("BUNDLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return setPaused(cmd.Context(), flags, streams, args[0], true)
		},
	}
}

func newResumeCommand(flags *genericclioptions.ConfigFlags, streams genericclioptions.IOStreams) *cobra.Command {
	return &cobra.Command{
		Use:   "resume BUNDLE",
		Short: "Go on with a paused rollout",
		Long: `Go on with a paused rollout: deadlines start anew.

It takes back what "pause" did. A Bundle or a RolloutPolicy that is paused itself
still holds the rollout; the command says so.`,
		Example: `  # Go on with the bundle hello
  fleetctl rollout resume hello -n fleet-demo`,
		Args: wants("BUNDLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return setPaused(cmd.Context(), flags, streams, args[0], false)
		},
	}
}

func setPaused(ctx context.Context, flags *genericclioptions.ConfigFlags, streams genericclioptions.IOStreams, bundle string, paused bool) error {
	h, r, err := open(ctx, flags, bundle)
	if err != nil {
		return err
	}
	changed := r.Spec.Paused != paused
	if changed {
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"paused":%t}}`, paused))
		if err := h.patch(ctx, r, patch); err != nil {
			return err
		}
	}
	lines := append([]string{pauseLine(r, paused, changed)}, h.othersPause(ctx, r, paused)...)
	return printLines(streams.Out, lines)
}

// pauseLine says what became of the Rollout.
func pauseLine(r *v1alpha1.Rollout, paused, changed bool) string {
	name := fmt.Sprintf("Rollout %s/%s", r.Namespace, r.Name)
	switch {
	case paused && changed:
		return name + " is paused: nothing more is admitted and nothing is removed; what is under way goes on, and no deadline runs."
	case paused:
		return name + " is paused already."
	case changed:
		return name + " is resumed: it goes on where it was, and deadlines start anew."
	}
	return name + " is not paused itself."
}

// othersPause tells who else pauses the rollout, which the Rollout's spec cannot undo.
func (h *hub) othersPause(ctx context.Context, r *v1alpha1.Rollout, paused bool) []string {
	prefix := "It stays paused all the same: "
	if paused {
		prefix = "Resuming it will not be enough: "
	}
	var lines []string
	b := &fleet.Bundle{}
	switch err := h.client.Get(ctx, h.bundle, b); {
	case err != nil:
		lines = append(lines, unread("Bundle "+h.bundle.String(), err))
	case b.Spec.Paused:
		lines = append(lines, prefix+fmt.Sprintf("the Bundle %s has spec.paused: true; set it to false where the Bundle is written.", h.bundle))
	}
	name, governed := strings.CutPrefix(r.Status.Source, "RolloutPolicy/")
	if !governed {
		return lines
	}
	p := &v1alpha1.RolloutPolicy{}
	switch err := h.client.Get(ctx, types.NamespacedName{Namespace: h.bundle.Namespace, Name: name}, p); {
	case err != nil:
		lines = append(lines, unread("RolloutPolicy "+h.bundle.Namespace+"/"+name, err))
	case p.Spec.Paused:
		lines = append(lines, prefix+fmt.Sprintf("the RolloutPolicy %s/%s has spec.paused: true, which holds all its bundles; set it to false there.", p.Namespace, p.Name))
	}
	return lines
}

// unread says that an object that may pause the rollout too could not be read.
func unread(object string, err error) string {
	why := err.Error()
	if apierrors.IsForbidden(err) {
		why = "you have no right to get it"
	}
	return fmt.Sprintf("Whether the %s pauses it too is not known: %s.", object, why)
}
