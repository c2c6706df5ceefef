package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/cli/groups"
	"open-cluster-management.io/fleet-addon/pkg/cli/rights"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

// revision is one revision of a bundle that is kept.
type revision struct {
	number  int64
	hash    string
	commit  string
	created time.Time
}

func (r revision) String() string {
	text := fmt.Sprintf("%d (%s", r.number, r.hash)
	if r.commit != "" {
		text += ", commit " + shortCommit(r.commit)
	}
	return text + ")"
}

// shortCommit is a commit as git shows it.
func shortCommit(commit string) string { return commit[:min(12, len(commit))] }

func newHistoryCommand(flags *genericclioptions.ConfigFlags, streams genericclioptions.IOStreams) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "history BUNDLE",
		Short: "List the revisions of a bundle that are kept",
		Long: `List the revisions of a bundle that are kept, the newest last.

"in force" is the revision that is rolled out now; "the bundle's own" is what the
Bundle says, another one only while a revision is pinned; "last completed" is the
last one with which every group passed; "pinned" is what "undo" chose.`,
		Example: `  # Which revisions of the bundle hello can be rolled out again?
  fleetctl rollout history hello -n fleet-demo`,
		Args: wants("BUNDLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			h, r, err := open(cmd.Context(), flags, args[0])
			if err != nil {
				return err
			}
			known, err := h.revisions(cmd.Context())
			if err != nil {
				return err
			}
			if output != "" {
				return printData(streams.Out, historyData(r, known), output)
			}
			return printLines(streams.Out, historyLines(r, known, time.Now()))
		},
	}
	addOutputFlag(cmd, &output, "json or yaml: print data instead of a table")
	return cmd
}

// revisionData is a kept revision for scripts.
type revisionData struct {
	Revision int64       `json:"revision"`
	Hash     string      `json:"hash"`
	Created  metav1.Time `json:"created"`
	Commit   string      `json:"commit,omitempty"`
	Marks    []string    `json:"marks,omitempty"`
}

// historyData are the kept revisions for scripts, the oldest first.
func historyData(r *v1alpha1.Rollout, known []revision) map[string][]revisionData {
	list := make([]revisionData, 0, len(known))
	for _, k := range known {
		list = append(list, revisionData{
			Revision: k.number, Hash: k.hash, Created: metav1.NewTime(k.created), Commit: k.commit, Marks: marks(r, k.hash),
		})
	}
	return map[string][]revisionData{"revisions": list}
}

// revisions lists the bundle's kept revisions, the oldest first.
func (h *hub) revisions(ctx context.Context) ([]revision, error) {
	list := &appsv1.ControllerRevisionList{}
	if err := h.client.List(ctx, list, client.InNamespace(h.bundle.Namespace), client.MatchingLabelsSelector{Selector: work.Selector(h.bundle)}); err != nil {
		return nil, rights.Missing(fmt.Errorf("list ControllerRevisions of Bundle %s: %w", h.bundle, err), "list", "controllerrevisions.apps", h.bundle.Namespace)
	}
	var out []revision
	for i := range list.Items {
		c := &list.Items[i]
		hash := c.Annotations[v1alpha1.AnnotationRevision]
		// Labels hold long names cut; the annotation says whose it is.
		if hash == "" || c.Annotations[v1alpha1.AnnotationBundle] != h.bundle.String() {
			continue
		}
		out = append(out, revision{
			number: c.Revision, hash: hash, commit: c.Annotations[v1alpha1.AnnotationCommit], created: c.CreationTimestamp.Time,
		})
	}
	slices.SortFunc(out, func(a, b revision) int { return int(a.number - b.number) })
	return out, nil
}

// historyLines lays the revisions out in columns.
func historyLines(r *v1alpha1.Rollout, known []revision, now time.Time) []string {
	if len(known) == 0 {
		return []string{fmt.Sprintf("No revision of Bundle %s/%s is kept yet.", r.Namespace, r.Name)}
	}
	cells := [][]string{{"REVISION", "HASH", "AGE", "COMMIT", "MARKS"}}
	for _, k := range known {
		commit := shortCommit(k.commit)
		if commit == "" {
			commit = "-"
		}
		cells = append(cells, []string{strconv.FormatInt(k.number, 10), k.hash, age(k.created, now), commit, strings.Join(marks(r, k.hash), ", ")})
	}
	lines := groups.Align(cells)
	if pin := r.Spec.Revision; pin != "" && find(known, pin) == nil {
		lines = append(lines, fmt.Sprintf("The Rollout pins revision %s, which is not kept: `fleetctl rollout undo %s -n %s --clear` takes the pin away.", pin, r.Name, r.Namespace))
	}
	return lines
}

// marks are what a revision is at the moment.
func marks(r *v1alpha1.Rollout, hash string) []string {
	var out []string
	for _, m := range []struct{ hash, mark string }{
		{r.Status.Revision, "in force"},
		{r.Status.BundleRevision, "the bundle's own"},
		{r.Status.Record.CompletedRevision, "last completed"},
		{r.Spec.Revision, "pinned"},
	} {
		if m.hash == hash {
			out = append(out, m.mark)
		}
	}
	return out
}

// find returns the revision with this hash; nil if it is not kept.
func find(known []revision, hash string) *revision {
	for i := range known {
		if known[i].hash == hash {
			return &known[i]
		}
	}
	return nil
}
