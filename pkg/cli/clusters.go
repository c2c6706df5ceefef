package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/cli/groups"
	"open-cluster-management.io/fleet-addon/pkg/cli/rights"
	"open-cluster-management.io/fleet-addon/pkg/hub/cluster"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

// page is how many objects one request lists.
const page = 500

// clusterList is what `status --clusters` lists.
type clusterList struct {
	Clusters []clusterRow `json:"clusters"`
	// notes are what the reader should know of the list as a whole.
	notes []string
}

// clusterRow is one cluster that has the bundle, or that a group waits for.
type clusterRow struct {
	Name     string       `json:"name"`
	Group    string       `json:"group,omitempty"`
	Revision string       `json:"revision,omitempty"`
	State    string       `json:"state"`
	Shown    string       `json:"shown,omitempty"`
	Since    *metav1.Time `json:"since,omitempty"`
	Reason   string       `json:"reason,omitempty"`
	Message  string       `json:"message,omitempty"`
}

// clusters lists the clusters of the bundle by its works, which are in the namespaces
// of the clusters, and by what the Rollout says of those without one.
func (h *hub) clusters(ctx context.Context, r *v1alpha1.Rollout, now time.Time) (*clusterList, error) {
	list := &clusterList{}
	known, err := h.managedClusters(ctx)
	if err != nil {
		if !apierrors.IsForbidden(err) {
			return nil, fmt.Errorf("list ManagedClusters: %w", err)
		}
		list.notes = append(list.notes, "You have no right to list managedclusters.cluster.open-cluster-management.io: a cluster that is offline is shown as it was before.")
	}
	works, err := h.works(ctx)
	if err != nil {
		return nil, err
	}
	told, have := toldOf(r), map[string]bool{}
	for i := range works {
		w := &works[i]
		have[w.Namespace] = true
		list.Clusters = append(list.Clusters, rowOf(r, w, known, told[w.Namespace], now))
	}
	for name, row := range told {
		if !have[name] {
			list.Clusters = append(list.Clusters, row)
		}
	}
	slices.SortFunc(list.Clusters, func(a, b clusterRow) int { return strings.Compare(a.Name, b.Name) })
	if n := int(r.Status.Counts.Total) - len(list.Clusters); n > 0 {
		list.notes = append(list.notes, fmt.Sprintf("%d more of the %d selected clusters have nothing of the bundle yet.", n, r.Status.Counts.Total))
	}
	return list, nil
}

// works lists the bundle's ManifestWorks in all namespaces, without what they carry.
func (h *hub) works(ctx context.Context) ([]workv1.ManifestWork, error) {
	var out []workv1.ManifestWork
	err := h.eachWork(ctx, func(w *workv1.ManifestWork) error {
		w.Spec, w.ManagedFields = workv1.ManifestWorkSpec{}, nil
		out = append(out, *w)
		return nil
	})
	return out, err
}

// eachWork looks at the bundle's ManifestWorks in all namespaces, a page at a time.
func (h *hub) eachWork(ctx context.Context, look func(*workv1.ManifestWork) error) error {
	list := &workv1.ManifestWorkList{}
	for {
		err := h.client.List(ctx, list, client.MatchingLabelsSelector{Selector: work.Selector(h.bundle)}, client.Limit(page), client.Continue(list.Continue))
		if err != nil {
			return rights.Missing(fmt.Errorf("list ManifestWorks of Bundle %s: %w", h.bundle, err),
				"list", "manifestworks.work.open-cluster-management.io", metav1.NamespaceAll)
		}
		for i := range list.Items {
			// Somebody's copy under another name is no work of the bundle.
			if list.Items[i].Name != work.Name(h.bundle) {
				continue
			}
			if err := look(&list.Items[i]); err != nil {
				return err
			}
		}
		if list.Continue == "" {
			return nil
		}
	}
}

// managedClusters lists all ManagedClusters by name.
func (h *hub) managedClusters(ctx context.Context) (map[string]*clusterv1.ManagedCluster, error) {
	out := map[string]*clusterv1.ManagedCluster{}
	list := &clusterv1.ManagedClusterList{}
	for {
		if err := h.client.List(ctx, list, client.Limit(page), client.Continue(list.Continue)); err != nil {
			return nil, err
		}
		for i := range list.Items {
			out[list.Items[i].Name] = &list.Items[i]
		}
		if list.Continue == "" {
			return out, nil
		}
	}
}

// toldOf are the clusters that the Rollout names, with what it says of them.
func toldOf(r *v1alpha1.Rollout) map[string]clusterRow {
	out := map[string]clusterRow{}
	for _, lane := range r.Status.Lanes {
		for i := range lane.Groups {
			g := &lane.Groups[i]
			label := groups.Label(r, lane.Name, g)
			for _, name := range g.NextClusters {
				out[name] = clusterRow{Name: name, Group: label, State: string(rollout.Pending), Shown: string(rollout.ShownPending), Message: "is next"}
			}
			for _, c := range g.Clusters {
				out[c.Name] = clusterRow{Name: c.Name, Group: label, State: c.State, Reason: c.Reason, Message: c.Message}
			}
		}
	}
	return out
}

// rowOf is the row of a cluster with a work. known is nil if ManagedClusters cannot be
// read; told is what the Rollout says of the cluster, if it does.
func rowOf(r *v1alpha1.Rollout, w *workv1.ManifestWork, known map[string]*clusterv1.ManagedCluster, told clusterRow, now time.Time) clusterRow {
	own, err := work.Read(w)
	if err != nil {
		return clusterRow{Name: w.Namespace, State: "Unknown", Message: err.Error()}
	}
	row := clusterRow{Name: w.Namespace, Group: placeLabel(r, own.Place), Revision: own.Revision}
	c := inspect(r, w.Namespace, &own, rollout.AddOnPresent, known[w.Namespace], known != nil, now)
	row.State, row.Shown, row.Reason, row.Message = string(c.State), string(c.Shown), string(c.Reason), c.Sentence
	if !c.Since.IsZero() {
		row.Since = &metav1.Time{Time: c.Since}
	}
	if c.State == rollout.Pending {
		row.Reason, row.Message = told.Reason, told.Message
		if row.Message == "" {
			row.Message = whyPending(r, own)
		}
	}
	return row
}

// inspect judges a cluster by its work and, where it is known, its ManagedCluster.
func inspect(r *v1alpha1.Rollout, name string, own *rollout.Work, addOn rollout.AddOnState, mc *clusterv1.ManagedCluster, known bool,
	now time.Time) rollout.ClusterResult {
	s := rollout.Sight{
		Cluster:  rollout.Cluster{Name: name, Exists: true, AddOn: addOn, Work: own},
		Known:    known,
		Revision: r.Status.Revision,
		Paused:   r.Status.Record.PauseSeenAt != nil,
	}
	if known {
		s.Cluster.Exists = cluster.Exists(mc)
		s.Cluster.Available, s.Cluster.AvailableSince = cluster.Available(mc)
	}
	if at := r.Status.Record.ResumedAt; at != nil {
		s.ResumedAt = at.Time
	}
	if g, _ := groupAt(r, own.Place); g != nil {
		s.Deadline = time.Duration(g.ProgressDeadlineSeconds) * time.Second
	}
	return rollout.Inspect(s, now)
}

// whyPending is what a cluster with an older revision waits for, as far as its group
// tells.
func whyPending(r *v1alpha1.Rollout, own rollout.Work) string {
	if own.Deleting {
		return "its ManifestWork is being deleted"
	}
	if g, lane := groupAt(r, own.Place); g != nil && g.Message != "" && !g.Passed {
		return g.Message
	} else if lane != nil && lane.Message != "" {
		return lane.Message
	}
	return ""
}

// groupAt finds a place in the status; nil for what is not there.
func groupAt(r *v1alpha1.Rollout, at rollout.Place) (*v1alpha1.GroupStatus, *v1alpha1.LaneStatus) {
	name := cmp.Or(at.Name, rollout.Unmatched)
	for i := range r.Status.Lanes {
		lane := &r.Status.Lanes[i]
		if lane.Name != at.Lane {
			continue
		}
		for j := range lane.Groups {
			if g := &lane.Groups[j]; g.Name == name && int(g.Index) == at.Index {
				return g, lane
			}
		}
		return nil, lane
	}
	return nil, nil
}

// placeLabel names a place as the table of groups does.
func placeLabel(r *v1alpha1.Rollout, at rollout.Place) string {
	if _, lane := groupAt(r, at); lane == nil {
		// A lane that is not there any more has to be named.
		return at.Lane + "/" + at.Label()
	}
	return groups.Label(r, at.Lane, &v1alpha1.GroupStatus{Name: at.Name, Index: int32(at.Index)})
}

// table lays the clusters out in columns.
func (l *clusterList) table(now time.Time) []string {
	cells := [][]string{{"CLUSTER", "GROUP", "REVISION", "STATE", "SHOWN AS", "SINCE", "MESSAGE"}}
	for _, c := range l.Clusters {
		since := ""
		if c.Since != nil {
			since = age(c.Since.Time, now)
		}
		cells = append(cells, []string{c.Name, c.Group, c.Revision, c.State, c.Shown, since, c.Message})
	}
	return append(groups.Align(cells), l.notes...)
}
