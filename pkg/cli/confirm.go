package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// confirmOptions are the flags of `rollout confirm`.
type confirmOptions struct {
	yes    bool
	reason string
}

// maxConfirmations is how many the Rollout's spec takes.
const maxConfirmations = 64

func newConfirmCommand(flags *genericclioptions.ConfigFlags, streams genericclioptions.IOStreams) *cobra.Command {
	var o confirmOptions
	cmd := &cobra.Command{
		Use:   "confirm BUNDLE",
		Short: "Show what a rollout holds until a person confirms it, and let it through",
		Long: `Show what a rollout holds until a person confirms it, and let it through.

A rollout asks before it goes on under another policy (RolloutSourceChanged), without
a group that had clusters (GroupVanished), and before it takes the bundle off many
clusters at once (RemovalGuard). A confirmation is for exactly what was shown, and for
the revision that is rolled out.`,
		Example: `  # Look, and answer
  fleetctl rollout confirm hello -n fleet-demo

  # Confirm removals only, without a question
  fleetctl rollout confirm hello -n fleet-demo --reason RemovalGuard --yes`,
		Args: wants("BUNDLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			h, err := connect(flags, args[0])
			if err != nil {
				return err
			}
			return confirm(cmd.Context(), h, streams, o)
		},
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	cmd.Flags().StringVar(&o.reason, "reason", "", "confirm requests with this reason only: RolloutSourceChanged, GroupVanished or RemovalGuard")
	suggest(cmd, "reason", fixed(v1alpha1.ConfirmSource, v1alpha1.ConfirmGroup, v1alpha1.ConfirmRemovals))
	return cmd
}

func (o *confirmOptions) check() error {
	reasons := []string{"", v1alpha1.ConfirmSource, v1alpha1.ConfirmGroup, v1alpha1.ConfirmRemovals}
	if !slices.Contains(reasons, o.reason) {
		return fmt.Errorf("--reason %q: want %s", o.reason, strings.Join(reasons[1:], ", "))
	}
	return nil
}

func confirm(ctx context.Context, h *hub, streams genericclioptions.IOStreams, o confirmOptions) error {
	r, err := h.rollout(ctx)
	if err != nil {
		return err
	}
	requests := requestsFor(r, o.reason)
	if len(requests) == 0 {
		_, err := fmt.Fprintf(streams.Out, "Nothing of Rollout %s waits for a confirmation%s.\n", h.bundle, ofReason(o.reason))
		return err
	}
	if err := printLines(streams.Out, requestLines(r, requests)); err != nil {
		return err
	}
	if !o.yes {
		agreed, err := ask(ctx, streams)
		if err != nil {
			return err
		}
		if !agreed {
			_, err := fmt.Fprintln(streams.Out, "Nothing is confirmed.")
			return err
		}
	}
	if err := h.confirm(ctx, r.Status.Revision, requests); err != nil {
		return err
	}
	return printLines(streams.Out, confirmedLines(r, requests))
}

func ofReason(reason string) string {
	if reason == "" {
		return ""
	}
	return " with reason " + reason
}

// requestsFor are what waits for a person, of one reason or of all.
func requestsFor(r *v1alpha1.Rollout, reason string) []v1alpha1.ConfirmationRequest {
	var out []v1alpha1.ConfirmationRequest
	for _, c := range r.Status.Confirmations {
		if reason == "" || c.Reason == reason {
			out = append(out, c)
		}
	}
	return out
}

// requestLines show each request with all its clusters.
func requestLines(r *v1alpha1.Rollout, requests []v1alpha1.ConfirmationRequest) []string {
	lines := []string{fmt.Sprintf("Rollout %s/%s, revision %s, waits for a confirmation:", r.Namespace, r.Name, r.Status.Revision), ""}
	for _, c := range requests {
		lines = append(lines, "  "+request(c))
		if len(c.Clusters) > 0 {
			lines = append(lines, "  Clusters: "+strings.Join(c.Clusters, ", "))
		}
		if n := int(c.Total) - len(c.Clusters); len(c.Clusters) > 0 && n > 0 {
			lines = append(lines, fmt.Sprintf("  %d more are not listed; they will have to be confirmed after these.", n))
		}
		lines = append(lines, "")
	}
	return lines
}

// ask wants a word from a person.
func ask(ctx context.Context, streams genericclioptions.IOStreams) (bool, error) {
	if _, ok := terminalOf(streams.In); !ok {
		return false, errors.New("nobody can be asked, because the input is no terminal: add --yes to confirm what is shown above")
	}
	return answer(ctx, streams.In, streams.Out)
}

// answer asks and reads a line; anything but y or yes is a no. Ctrl-C ends the question.
func answer(ctx context.Context, in io.Reader, out io.Writer) (bool, error) {
	fmt.Fprint(out, "Confirm it? [y/N] ")
	type reply struct {
		line string
		err  error
	}
	replies := make(chan reply, 1)
	go func() {
		line, err := bufio.NewReader(in).ReadString('\n')
		replies <- reply{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(out)
		return false, errors.New("interrupted, and nothing was confirmed")
	case r := <-replies:
		if r.err != nil && !errors.Is(r.err, io.EOF) {
			return false, fmt.Errorf("read the answer: %w", r.err)
		}
		word := strings.ToLower(strings.TrimSpace(r.line))
		return word == "y" || word == "yes", nil
	}
}

// confirm writes confirmations of what was shown, under a lock: what somebody else
// confirms meanwhile stays.
func (h *hub) confirm(ctx context.Context, revision string, requests []v1alpha1.ConfirmationRequest) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		r, err := h.rollout(ctx)
		if err != nil {
			return err
		}
		if r.Status.Revision != revision {
			return fmt.Errorf("the Rollout %s went on to revision %s meanwhile, and nothing was confirmed: look again with `fleetctl rollout confirm %s -n %s`",
				h.bundle, r.Status.Revision, h.bundle.Name, h.bundle.Namespace)
		}
		before := r.DeepCopy()
		r.Spec.Confirmations = confirmations(r, requests)
		return h.patch(ctx, r, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	})
}

// confirmations are those of the Rollout's revision with the new ones behind them;
// those of other revisions do nothing and go.
func confirmations(r *v1alpha1.Rollout, requests []v1alpha1.ConfirmationRequest) []v1alpha1.Confirmation {
	var out []v1alpha1.Confirmation
	for _, c := range r.Spec.Confirmations {
		if c.Revision == r.Status.Revision {
			out = append(out, c)
		}
	}
	for _, q := range requests {
		c := v1alpha1.Confirmation{Reason: q.Reason, Subject: q.Subject, Revision: r.Status.Revision, Clusters: q.Clusters}
		same := func(other v1alpha1.Confirmation) bool {
			return other.Reason == c.Reason && other.Subject == c.Subject && slices.Equal(other.Clusters, c.Clusters)
		}
		if !slices.ContainsFunc(out, same) {
			out = append(out, c)
		}
	}
	return out[max(0, len(out)-maxConfirmations):]
}

// confirmedLines say what happens next.
func confirmedLines(r *v1alpha1.Rollout, requests []v1alpha1.ConfirmationRequest) []string {
	var lines []string
	for _, c := range requests {
		switch c.Reason {
		case v1alpha1.ConfirmRemovals:
			lines = append(lines, fmt.Sprintf("Confirmed: the bundle is taken off %s that nothing selects any more.", plural(len(c.Clusters))))
		case v1alpha1.ConfirmSource:
			lines = append(lines, fmt.Sprintf("Confirmed: the rollout goes on under %s.", c.Subject))
		case v1alpha1.ConfirmGroup:
			lines = append(lines, fmt.Sprintf("Confirmed: the rollout goes on without group %s.", c.Subject))
		default:
			lines = append(lines, "Confirmed: "+request(c))
		}
	}
	if r.Spec.Paused {
		lines = append(lines, fmt.Sprintf("The Rollout is paused: nothing happens before `fleetctl rollout resume %s -n %s`.", r.Name, r.Namespace))
	}
	return append(lines, fmt.Sprintf("It counts for revision %s. `fleetctl rollout status %s -n %s` shows what becomes of it.", r.Status.Revision, r.Name, r.Namespace))
}
